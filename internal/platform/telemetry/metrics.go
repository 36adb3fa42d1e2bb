package telemetry

import (
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics is the one registry of the process. It keeps the metrics of the process and of
// each tenant apart, so that an answer contains only what its reader may see.
//
// Counters start at 0 with the process. Each fact is counted once, by the process that
// committed it, so the sum over all replicas, and over restarts as Prometheus's rate and
// increase compute it, is the count of the installation.
type Metrics struct {
	process   *prometheus.Registry
	requests  *prometheus.HistogramVec
	strangers prometheus.Counter
	updates   *prometheus.HistogramVec
	chats     *prometheus.CounterVec

	mu      sync.RWMutex
	tenants map[string]*tenantMetrics
}

// NewMetrics makes the registry of a process that runs this version.
func NewMetrics(version string) *Metrics {
	f := &Metrics{
		process: prometheus.NewRegistry(), tenants: map[string]*tenantMetrics{},
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_http_request_duration_seconds", Buckets: requestBuckets,
			Help: "Requests by route and class of status: how many, and the time to the first byte of the answer.",
		}, []string{"route", "status"}),
		strangers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "countersign_unauthenticated_total", Help: "Requests answered 401.",
		}),
		updates: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "countersign_store_update_duration_seconds", Buckets: requestBuckets,
			Help: "Changes of the store by result: how many, and the time from asking to durable.",
		}, []string{"result"}),
		chats: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "countersign_chat_answers_total", Help: "What people pressed and sent in chat services, by how it ended.",
		}, []string{"result"}),
	}
	f.chats.WithLabelValues("decided") // the figure is there before the first answer
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "countersign_build_info", Help: "1, with what is running as labels."}, []string{"version", "go"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	f.process.MustRegister(f.requests, f.strangers, f.updates, f.chats, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return f
}

// Counter exposes a count of the process that the caller keeps.
func (m *Metrics) Counter(name, help string, value func() int64) {
	m.process.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Gauge exposes a size of the process that the caller keeps.
func (m *Metrics) Gauge(name, help string, value func() int64) {
	m.process.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Stranger counts a request without a principal.
func (m *Metrics) Stranger() {
	if m != nil {
		m.strangers.Inc()
	}
}

func (m *Metrics) request(route string, status int, took time.Duration) {
	if m != nil {
		m.requests.WithLabelValues(route, class(status)).Observe(took.Seconds())
	}
}

// ChatAnswer counts what a person pressed or sent in a chat service.
func (m *Metrics) ChatAnswer(result string) {
	if m != nil {
		m.chats.WithLabelValues(result).Inc()
	}
}

// Updated counts a write transaction of the store, committed or failed.
func (m *Metrics) Updated(err error, took time.Duration) {
	if m == nil {
		return
	}
	result := "durable"
	if err != nil {
		result = "refused"
	}
	m.updates.WithLabelValues(result).Observe(took.Seconds())
}

// Observe counts facts of a tenant. Call it after their commit.
func (m *Metrics) Observe(tenant string, facts []Fact) {
	if m == nil || len(facts) == 0 {
		return
	}
	t := m.of(tenant)
	for _, fact := range facts {
		t.count(fact)
	}
}

// Heartbeat counts a heartbeat by its result: accepted, duplicate, refused.
func (m *Metrics) Heartbeat(tenant, result string) {
	if m != nil {
		m.of(tenant).heartbeats.WithLabelValues(result).Inc()
	}
}

// of returns the metrics of an existing tenant.
func (m *Metrics) of(tenant string) *tenantMetrics {
	m.mu.RLock()
	t := m.tenants[tenant]
	m.mu.RUnlock()
	if t != nil {
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tenants[tenant] == nil {
		m.tenants[tenant] = newTenantMetrics()
	}
	return m.tenants[tenant]
}
