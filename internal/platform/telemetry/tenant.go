package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// maxCapabilities bounds the series of one tenant: further capabilities share one series
// under a name that no project can have.
const (
	maxCapabilities = 500
	other           = "(other)"
)

// HeartbeatResults are the possible results of a heartbeat.
var HeartbeatResults = []string{"accepted", "duplicate", "refused"}

// tenantMetrics are the metrics of this process that one tenant may see.
type tenantMetrics struct {
	registry   *prometheus.Registry
	counters   map[string]*prometheus.CounterVec // by name
	waits      *prometheus.HistogramVec
	calls      *prometheus.HistogramVec
	settled    *prometheus.HistogramVec
	heartbeats *prometheus.CounterVec

	mu           sync.Mutex
	capabilities map[[2]string]*capabilityFigures
}

// capabilityFigures are the series of one capability, cached.
type capabilityFigures struct {
	counters map[Kind]prometheus.Counter
	wait     prometheus.Observer
	call     prometheus.Observer

	project, name string
}

func newTenantMetrics() *tenantMetrics {
	labels := []string{"project", "capability"}
	t := &tenantMetrics{
		registry: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}, capabilities: map[[2]string]*capabilityFigures{},
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_capability_approval_wait_seconds", Buckets: waitBuckets,
			Help: "How long approvals waited until a person decided.",
		}, labels),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_capability_call_duration_seconds", Buckets: callBuckets,
			Help: "How long calls took that were answered, whatever the answer.",
		}, labels),
		settled: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_capability_unknown_seconds", Buckets: waitBuckets,
			Help: "How long it was unknown whether a side effect had happened, by who settled it: a reviewer who found out, the API by its signed word, or a reviewer who confirmed that word (api_confirmed).",
		}, []string{"project", "capability", "by"}),
		heartbeats: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_heartbeats_total", Help: "Heartbeats by what became of them.",
		}, []string{"result"}),
	}
	for _, result := range HeartbeatResults {
		t.heartbeats.WithLabelValues(result)
	}
	t.registry.MustRegister(t.waits, t.calls, t.settled, t.heartbeats)
	for _, c := range counted {
		if t.counters[c.name] != nil {
			continue
		}
		named := labels
		if c.resolution != "" {
			named = []string{"project", "capability", "resolution"}
		}
		t.counters[c.name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: c.name, Help: c.help}, named)
		t.registry.MustRegister(t.counters[c.name])
	}
	return t
}

func (t *tenantMetrics) count(fact Fact) {
	c := t.capability(fact.ProjectID, fact.Capability)
	if counter := c.counters[fact.Kind]; counter != nil {
		counter.Inc()
	}
	switch {
	case fact.Kind == Settled:
		t.settled.WithLabelValues(c.project, c.name, fact.By).Observe(fact.Took.Seconds())
	case fact.Kind == Decided:
		c.wait.Observe(fact.Took.Seconds())
	case fact.Kind == Sent && fact.Timed:
		c.call.Observe(fact.Took.Seconds())
	}
}

// capability returns the series of a capability. All of them are created with its first
// fact, so that a rate without facts is 0 and not absent.
func (t *tenantMetrics) capability(project, name string) *capabilityFigures {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.capabilities[[2]string{project, name}]
	if c == nil && len(t.capabilities) >= maxCapabilities {
		project, name = other, other
		c = t.capabilities[[2]string{project, name}]
	}
	if c == nil {
		c = t.series(project, name)
		t.capabilities[[2]string{project, name}] = c
	}
	return c
}

func (t *tenantMetrics) series(project, name string) *capabilityFigures {
	c := &capabilityFigures{counters: map[Kind]prometheus.Counter{}, wait: t.waits.WithLabelValues(project, name), call: t.calls.WithLabelValues(project, name), project: project, name: name}
	t.settled.WithLabelValues(project, name, ByReviewer) // the others are of those who use them
	for kind, as := range counted {
		labels := []string{project, name}
		if as.resolution != "" {
			labels = append(labels, as.resolution)
		}
		c.counters[kind] = t.counters[as.name].WithLabelValues(labels...)
	}
	return c
}
