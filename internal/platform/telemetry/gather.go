package telemetry

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Metric is a gauge that was measured for one answer. It has at most one label.
type Metric struct {
	Name  string
	Help  string
	Label string // label name, "" for none
	Is    string // label value
	Value float64
}

// Families are gathered metrics, the same for each output format.
type Families []*dto.MetricFamily

// Gather returns a tenant's metrics: those that this process counted, and those that were
// measured for this answer. With process it adds the metrics of the process.
func (m *Metrics) Gather(tenant string, process bool, measured []Metric) (Families, error) {
	now := prometheus.NewRegistry()
	if err := now.Register(gauges(measured)); err != nil {
		return nil, fmt.Errorf("figures measured: %w", err)
	}
	all := prometheus.Gatherers{now}
	if m != nil {
		all = append(all, m.of(tenant).registry)
		if process {
			all = append(all, m.process)
		}
	}
	return all.Gather()
}

// Gather implements prometheus.Gatherer.
func (f Families) Gather() ([]*dto.MetricFamily, error) { return f, nil }

type gauges []Metric

// Describe implements prometheus.Collector.
func (g gauges) Describe(ch chan<- *prometheus.Desc) {
	seen := map[string]bool{}
	for _, f := range g {
		if !seen[f.Name] {
			ch <- f.describe()
		}
		seen[f.Name] = true
	}
}

// Collect implements prometheus.Collector.
func (g gauges) Collect(ch chan<- prometheus.Metric) {
	for _, f := range g {
		ch <- prometheus.MustNewConstMetric(f.describe(), prometheus.GaugeValue, f.Value, optional(f.Is)...)
	}
}

func (m Metric) describe() *prometheus.Desc {
	return prometheus.NewDesc(m.Name, m.Help, optional(m.Label), nil)
}

func optional(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
