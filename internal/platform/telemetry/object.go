package telemetry

import (
	"math"

	dto "github.com/prometheus/client_model/go"
)

// Object returns the metrics as a JSON object: a value by its name; with labels, nested
// objects by the labels' values in the order of the labels' names. A histogram is an object
// of count, sum and, if it has buckets, the p50 and p95 estimated from them (null while it
// is empty).
func (f Families) Object() map[string]any {
	out := map[string]any{}
	for _, family := range f {
		for _, m := range family.GetMetric() {
			path := []string{family.GetName()}
			for _, label := range m.GetLabel() {
				path = append(path, label.GetValue())
			}
			set(out, path, value(m))
		}
	}
	return out
}

func set(into map[string]any, path []string, v any) {
	for _, step := range path[:len(path)-1] {
		below, is := into[step].(map[string]any)
		if !is {
			below = map[string]any{}
			into[step] = below
		}
		into = below
	}
	into[path[len(path)-1]] = v
}

func value(m *dto.Metric) any {
	switch {
	case m.Histogram != nil:
		h := m.GetHistogram()
		return map[string]any{"count": h.GetSampleCount(), "sum": number(h.GetSampleSum()), "p50": quantile(h, 0.5), "p95": quantile(h, 0.95)}
	case m.Summary != nil:
		return map[string]any{"count": m.GetSummary().GetSampleCount(), "sum": number(m.GetSummary().GetSampleSum())}
	case m.Counter != nil:
		return number(m.GetCounter().GetValue())
	case m.Gauge != nil:
		return number(m.GetGauge().GetValue())
	default:
		return number(m.GetUntyped().GetValue())
	}
}

// number is null where JSON has no number for it.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// quantile computes what Prometheus's histogram_quantile does: linear within a bucket, and
// the highest bound for values above it.
func quantile(h *dto.Histogram, q float64) any {
	total := float64(h.GetSampleCount())
	if total == 0 {
		return nil
	}
	from, below := 0.0, 0.0
	for _, b := range h.GetBucket() {
		bound, upTo := b.GetUpperBound(), float64(b.GetCumulativeCount())
		if math.IsInf(bound, 1) {
			break
		}
		if upTo >= q*total && upTo > below {
			return from + (bound-from)*(q*total-below)/(upTo-below)
		}
		from, below = bound, upTo
	}
	return from
}
