package httpapi

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/telemetry"
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
	expose(figures, w, c.r)
	return nil
}

func expose(figures telemetry.Families, w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(figures, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
}

// FiguresPath is where the operator's own listener for figures serves them.
const FiguresPath = "/metrics"

// Figures serves the installation's figures to whoever reaches it, without a token and nothing
// else (contract 12.7): in the exposition, or in JSON for who asks for that alone.
func (a *API) Figures() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = a.identify(w, r)
		switch {
		case r.URL.Path != FiguresPath:
			a.fail(w, r, countersign.Errorf(countersign.CodeNotFound, "there are figures at %s here, and nothing else", FiguresPath))
			return
		case !safe(r.Method):
			w.Header().Set("Allow", "GET, HEAD")
			a.fail(w, r, countersign.Errorf(countersign.CodeMethodNotAllowed, "%s is not allowed here; use GET", r.Method))
			return
		}
		figures, err := a.control.Installation(r.Context())
		switch {
		case err != nil:
			a.fail(w, r, err)
		case strings.Contains(r.Header.Get("Accept"), "application/json") && !prefersText(r):
			a.write(w, r, http.StatusOK, figures.Object())
		default:
			expose(figures, w, r)
		}
	})
}

// prefersText reports an Accept header that names the exposition's types but not JSON:
// many HTTP libraries name both and expect JSON.
func prefersText(r *http.Request) bool {
	all := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return (strings.Contains(all, "text/plain") || strings.Contains(all, "openmetrics")) && !strings.Contains(all, "application/json")
}
