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
	var counted []*prometheus.Registry
	if m != nil {
		counted = append(counted, m.of(tenant).registry)
		if process {
			counted = append(counted, m.process)
		}
	}
	return gather(measured, counted...)
}

// GatherProcess returns the metrics of the process and those that were measured for this answer,
// and none of a tenant.
func (m *Metrics) GatherProcess(measured []Metric) (Families, error) {
	if m == nil {
		return gather(measured)
	}
	return gather(measured, m.process)
}

func gather(measured []Metric, counted ...*prometheus.Registry) (Families, error) {
	now := prometheus.NewRegistry()
	if err := now.Register(gauges(measured)); err != nil {
		return nil, fmt.Errorf("figures measured: %w", err)
	}
	all := prometheus.Gatherers{now}
	for _, r := range counted {
		all = append(all, r)
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
