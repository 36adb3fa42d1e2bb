package httpapi

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics returns the same figures in two formats: a JSON object, or the Prometheus
// exposition if the client asks for text (contract 1).
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

// prefersText reports an Accept header that names the exposition's types but not JSON:
// many HTTP libraries name both and expect JSON.
func prefersText(r *http.Request) bool {
	all := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return (strings.Contains(all, "text/plain") || strings.Contains(all, "openmetrics")) && !strings.Contains(all, "application/json")
}
