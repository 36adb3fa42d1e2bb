package httpapi

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/countersign/countersign/internal/control"
)

// metrics answers with the same figures in either face: a JSON object, or the
// Prometheus exposition for those who ask for text (contract 1).
func (a *API) metrics(c *call, w http.ResponseWriter) error {
	figures, err := a.control.Metrics(c.ctx, c.actor)
	if err != nil {
		return err
	}
	if !prefersText(c.r) {
		a.write(w, c.r, http.StatusOK, asObject(figures))
		return nil
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector(figures)); err != nil {
		return err
	}
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, c.r)
	return nil
}

// acceptsText reports who names the exposition's types and not JSON: many HTTP
// libraries name both, and want the API's own format.
func acceptsText(accept []string) bool {
	all := strings.ToLower(strings.Join(accept, ","))
	return (strings.Contains(all, "text/plain") || strings.Contains(all, "openmetrics")) && !strings.Contains(all, "application/json")
}

// asObject nests labelled figures by their label's value.
func asObject(figures []control.Figure) map[string]any {
	out := map[string]any{}
	for _, f := range figures {
		if f.Label == "" {
			out[f.Name] = f.Value
			continue
		}
		byLabel, ok := out[f.Name].(map[string]float64)
		if !ok {
			byLabel = map[string]float64{}
			out[f.Name] = byLabel
		}
		byLabel[f.Is] = f.Value
	}
	return out
}

// collector exposes figures that were measured already.
type collector []control.Figure

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	seen := map[string]bool{}
	for _, f := range c {
		if !seen[f.Name] {
			ch <- describe(f)
		}
		seen[f.Name] = true
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	for _, f := range c {
		ch <- prometheus.MustNewConstMetric(describe(f), prometheus.GaugeValue, f.Value, labels(f.Is)...)
	}
}

func describe(f control.Figure) *prometheus.Desc {
	return prometheus.NewDesc(f.Name, f.Help, labels(f.Label), nil)
}

func labels(one string) []string {
	if one == "" {
		return nil
	}
	return []string{one}
}
