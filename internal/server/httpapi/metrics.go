package httpapi

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics answers with the same figures in either face: a JSON object, or the
// Prometheus exposition for those who ask for text (contract 1).
func (a *API) metrics(c *call, w http.ResponseWriter) error {
	figures, err := a.control.Metrics(c.ctx, c.actor)
	if err != nil {
		return err
	}
	if !prefersText(c.r) {
		a.write(w, c.r, http.StatusOK, figures.Object())
		return nil
	}
	promhttp.HandlerFor(figures, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, c.r)
	return nil
}

// acceptsText reports who names the exposition's types and not JSON: many HTTP
// libraries name both, and want the API's own format.
func acceptsText(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return (strings.Contains(all, "text/plain") || strings.Contains(all, "openmetrics")) && !strings.Contains(all, "application/json")
}
