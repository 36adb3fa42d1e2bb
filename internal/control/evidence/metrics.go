package evidence

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// MetricService is the figures of a tenant and the installation.
type MetricService struct {
	*core.Core
	counts storedCounts
}

// NewMetrics returns the use cases.
func NewMetrics(c *core.Core) *MetricService { return &MetricService{Core: c} }

// Metrics returns the tenant's metrics; for a realm administrator also those of the process
// and the installation (contract 9).
func (s *MetricService) Metrics(ctx context.Context, a core.Actor) (telemetry.Families, error) {
	if err := access.Allow(a.Principal, access.ReadMetrics); err != nil {
		return nil, err
	}
	measured, err := s.counts.of(a.Tenant, func() ([]telemetry.Metric, error) { return s.measure(ctx, a, countStored) })
	if err != nil {
		return nil, err
	}
	witnessed, err := s.witnessed(ctx, a)
	if err != nil {
		return nil, err
	}
	measured = slices.Concat(measured, witnessed)
	measured = append(slices.Clip(measured), s.ending(a.Tenant, "countersign_token", "the tenant")...)
	seesProcess := a.Realm || a.ReadsOnly() && access.RealmToo(a.Principal) == nil
	if seesProcess {
		installation, err := s.measure(ctx, a, s.installation)
		if err != nil {
			return nil, err
		}
		measured = slices.Concat(measured, installation)
	}
	return s.Config.Metrics.Gather(a.Tenant, seesProcess, measured)
}

// Installation returns the figures of the process and the installation, and none of any tenant:
// whoever reaches the operator's own address for them may read them.
func (s *MetricService) Installation(ctx context.Context) (telemetry.Families, error) {
	measured, err := s.counts.of(store.Realm, func() (figures []telemetry.Metric, err error) {
		err = s.Read(ctx, func(tx store.Tx) (err error) {
			figures, err = s.installation(tx, "")
			return err
		})
		return figures, err
	})
	if err != nil {
		return nil, err
	}
	return s.Config.Metrics.GatherProcess(measured)
}

// ending are the figures of tokens that end soon.
func (s *MetricService) ending(tenant, name, of string) []telemetry.Metric {
	if s.Config.Ending == nil {
		return nil
	}
	n, next := s.Config.Ending(tenant)
	out := []telemetry.Metric{{Name: name + "s_ending", Help: "Tokens of " + of + " that end within two weeks, or a quarter of their life, and were not renewed.", Value: float64(n)}}
	if !next.IsZero() {
		out = append(out, telemetry.Metric{Name: name + "_next_end_timestamp_seconds", Help: "When the first token of " + of + " ends, of those that are good and were not renewed.", Value: float64(next.Unix())})
	}
	return out
}

func (s *MetricService) measure(ctx context.Context, a core.Actor, count func(tx store.Tx, tenant string) ([]telemetry.Metric, error)) (figures []telemetry.Metric, err error) {
	err = s.View(ctx, a, access.ReadMetrics, func(tx store.Tx) (err error) {
		figures, err = count(tx, a.Tenant)
		return err
	})
	return figures, err
}

type countedTable struct {
	table                 *store.Table
	name, help, label, is string
}

func tenantCounts() []countedTable {
	counts := []countedTable{
		{table: store.Models, name: "countersign_models", help: "Models of the tenant."},
		{table: store.Projects, name: "countersign_projects", help: "Projects of the tenant."},
		{table: store.Teams, name: "countersign_teams", help: "Teams of the tenant."},
		{table: store.Tokens, name: "countersign_tokens", help: "Tokens of the tenant, expired and revoked ones included."},
	}
	for _, status := range countersign.RunStatuses {
		counts = append(counts, countedTable{store.Runs, "countersign_runs", "Runs of the tenant by status.", "status", string(status)})
	}
	for _, status := range []countersign.ApprovalStatus{countersign.ApprovalPending, countersign.ApprovalApproved, countersign.ApprovalRejected} {
		counts = append(counts, countedTable{store.Approvals, "countersign_approvals", "Approvals of the tenant by status.", "status", string(status)})
	}
	for _, status := range []string{countersign.PlanReady, countersign.PlanInvalid} {
		counts = append(counts, countedTable{store.Plans, "countersign_plans", "Plans of the tenant by status.", "status", status})
	}
	for _, status := range []countersign.AgentStatus{countersign.AgentPending, countersign.AgentAdmitted} {
		counts = append(counts, countedTable{store.Agents, "countersign_agents", "Agents of the tenant by registry status.", "status", string(status)})
	}
	return counts
}

func (s *MetricService) installation(tx store.Tx, _ string) ([]telemetry.Metric, error) {
	tenants, err := tx.Count(store.Tenants, store.Realm, store.Query{})
	if err != nil {
		return nil, err
	}
	out := []telemetry.Metric{
		{Name: "countersign_tenants", Help: "Tenants of the installation.", Value: float64(tenants)},
		{Name: "countersign_slots", Help: "Runs that may be READY or RUNNING at once.", Value: float64(s.Config.MaxActive)},
		{Name: "countersign_goroutines", Help: "Goroutines of the process.", Value: float64(runtime.NumGoroutine())},
		{Name: "countersign_heap_bytes", Help: "Heap in use by the process.", Value: heapInUse()},
	}
	for _, state := range []string{records.Active, records.Queued, records.Waiting, records.Recovery, records.Stranded} {
		n, err := tx.Count(store.Unfinished, store.Realm, store.Query{Where: []store.Filter{store.Equal("state", state)}})
		if err != nil {
			return nil, err
		}
		out = append(out, telemetry.Metric{Name: "countersign_unfinished_runs", Help: "Unfinished runs of the installation.", Label: "state", Is: state, Value: float64(n)})
	}
	if len(s.Config.Witnesses) > 0 {
		realms, err := s.cosignedFigures(tx, store.Realm, "countersign_realm_audit_", "the realm's audit log")
		if err != nil {
			return nil, err
		}
		out = append(out, realms...)
	}
	out = append(out, s.ending(store.Realm, "countersign_installation_token", "the installation")...)
	kinds := map[string]int{"run": 0} // so that the figure is there from the start
	for _, r := range s.Config.Unreadable.All() {
		kinds[r.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, telemetry.Metric{Name: "countersign_unreadable_records", Help: "Records of the installation that background work of this process could not read, and passed over.", Label: "kind", Is: kind, Value: float64(kinds[kind])})
	}
	return out, nil
}

func heapInUse() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse)
}

// Health is what callers without a token may know of the service.
type Health struct {
	Status  string `json:"status" enum:"ok,degraded" doc:"degraded: reads are served, writes are not"`
	Version string `json:"version"`
	Store   string `json:"store" enum:"ok,full" doc:"full: writes wait for space, or for the database to give the right to write"`

	AuditRewound []string `json:"auditRewound,omitempty" since:"3" doc:"names of the witnesses that have cosigned what an audit log is not any more: it was cut off, or told anew"`
}

// Health returns the service's state; unavailable if the store can't be read, or can't be
// written until a restart.
func (s *MetricService) Health(ctx context.Context) (Health, error) {
	select {
	case <-s.Store.Failed():
		return Health{}, countersign.Errorf(countersign.CodeUnavailable, "the store failed; the service is stopping")
	default:
	}
	var rewound []string
	err := s.Store.View(ctx, func(tx store.Tx) error {
		if _, err := tx.Count(store.Tenants, store.Realm, store.Query{}); err != nil {
			return err
		}
		rewound, _ = rewoundBy(tx, s.Config.Witnesses) // one that can't be read says nothing of the service's health
		return nil
	})
	if err != nil {
		return Health{}, countersign.Errorf(countersign.CodeUnavailable, "the store can't be read")
	}
	h := Health{Status: "ok", Version: s.Config.Version, Store: "ok", AuditRewound: rewound}
	if s.Store.Full() {
		h.Status, h.Store = "degraded", "full"
	}
	return h, nil
}

// storedCounts counts what a tenant has stored. A count reads a range of an index, which
// takes a while for a large tenant, so frequent callers get the latest count again.
type storedCounts struct {
	mu     sync.Mutex
	latest map[string]counted
}

type counted struct {
	figures []telemetry.Metric
	until   time.Time
}

// A count that took longer than countFreely is reused for countShare times as long as it
// took, so that scraping takes at most 1/countShare of a reader.
const (
	countFreely = 20 * time.Millisecond
	countShare  = 20
)

// of runs one count at a time. Callers that wait for it hold no reader of the store.
func (c *storedCounts) of(tenant string, take func() ([]telemetry.Metric, error)) ([]telemetry.Metric, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if known, ok := c.latest[tenant]; ok && began.Before(known.until) {
		return known.figures, nil
	}
	figures, err := take()
	if took := time.Since(began); err == nil && took > countFreely {
		if c.latest == nil {
			c.latest = map[string]counted{}
		}
		c.latest[tenant] = counted{figures, time.Now().Add(countShare * took)}
	}
	return figures, err
}

// countStored counts what a tenant has.
func countStored(tx store.Tx, tenant string) ([]telemetry.Metric, error) {
	records, err := audit.Size(tx, tenant)
	if err != nil {
		return nil, err
	}
	figures := []telemetry.Metric{{Name: "countersign_audit_records", Help: "Records of the tenant's audit log.", Value: float64(records)}}
	for _, count := range tenantCounts() {
		n, err := tx.Count(count.table, tenant, store.Query{Where: core.Equals(map[string]string{"status": count.is})})
		if err != nil {
			return nil, err
		}
		figures = append(figures, telemetry.Metric{Name: count.name, Help: count.help, Label: count.label, Is: count.is, Value: float64(n)})
	}
	return figures, nil
}
