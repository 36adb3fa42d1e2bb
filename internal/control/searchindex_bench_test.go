package control_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/indexing"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// answering answers every call at once.
type answering struct{ n atomic.Int64 }

func (a *answering) Call(context.Context, request.Call) request.Outcome {
	body := fmt.Sprintf(`{"ok":true,"refundId":"re_%d"}`, a.n.Add(1))
	return request.Outcome{Certainty: request.Returned, Body: countersign.RawValue(body), Response: &countersign.Response{StatusCode: 200, Bytes: countersign.ByteCount(len(body))}}
}

func (a *answering) Health(context.Context, string, map[string]string, *countersign.Project) countersign.HealthCheck {
	return countersign.HealthCheck{Healthy: true, StatusCode: 200}
}

// BenchmarkStepBesideTheIndex runs blocks of runs in turns without and with the index of
// runs beside them. slower-% is how much longer a step takes with it; it is meant to stay
// below 2.
func BenchmarkStepBesideTheIndex(b *testing.B) {
	bed := openStepBed(b)
	bed.block("refund")
	var without, with time.Duration
	for b.Loop() {
		without += bed.block("refund")
		indexer := indexing.New(bed.store, bed.service, 0, slog.New(slog.DiscardHandler), nil)
		indexer.Start()
		with += bed.block("refund")
		indexer.Stop()
	}
	report(b, without, with)
}

// BenchmarkStepWithBudgets runs blocks of runs in turns of a capability without budgets and
// of one with two, a count and a sum, whose window holds all that was sent. slower-% is meant
// to stay below 3.
func BenchmarkStepWithBudgets(b *testing.B) {
	bed := openStepBed(b)
	bed.block("refund")
	bed.block("budgeted")
	var without, with time.Duration
	for b.Loop() {
		for range 4 { // short turns: what else the machine does meets both
			without += bed.part("refund", blockRuns/4)
			with += bed.part("budgeted", blockRuns/4)
		}
	}
	report(b, without, with)
}

// A block has many rests of whoever indexes.
const blockRuns, blockSteps = 400, 10

func report(b *testing.B, without, with time.Duration) {
	n := float64(b.N * blockRuns * blockSteps)
	b.ReportMetric(float64(without.Microseconds())/n, "µs/step-without")
	b.ReportMetric(float64(with.Microseconds())/n, "µs/step-with")
	b.ReportMetric(100*(float64(with)/float64(without)-1), "slower-%")
}

// stepBed is a service on its embedded store that runs steps which are answered at once.
type stepBed struct {
	b       *testing.B
	store   store.Store
	service *control.Service
	boss    control.Actor
	newID   func(kind string) string
}

func openStepBed(b *testing.B) *stepBed {
	var ids atomic.Int64
	newID := func(kind string) string { return fmt.Sprintf("%s-%09d", kind, ids.Add(1)) }
	st, err := sqlite.Open(b.Context(), b.TempDir())
	no(b, err)
	log, hub, calls := slog.New(slog.DiscardHandler), &updates.Hub{}, &answering{}
	l := runrepo.New(runrepo.Config{MaxActive: 4, ApprovalTTL: time.Hour, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now})
	e := engine.New(st, l, calls, hub, log)
	s := control.New(control.Config{MaxActive: 4, NewID: newID, NewSecret: func() (x [32]byte) { copy(x[:], newID("s")); return x }, Now: time.Now}, st, l, e, hub, calls, log)
	_, err = s.Bootstrap(b.Context(), "")
	no(b, err)
	no(b, e.Start(b.Context()))
	b.Cleanup(func() { e.Stop(0); s.Close(); _ = st.Close() })
	boss := control.Actor{Principal: access.Principal{ID: "user:boss@example.com", Tenant: countersign.DefaultTenant, Roles: []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator}}, RequestID: "req-bench"}
	text := map[string]countersign.InputField{"orderId": {Type: "string"}, "amount": {Type: "number"}}
	budgets := []countersign.Budget{
		{Count: 1e9, Window: "720h", Then: countersign.BudgetAsk, Reason: "so many"},
		{Sum: "amount", Most: countersign.RawValue("1e12"), Window: "24h", Then: countersign.BudgetDeny, Reason: "so much"},
	}
	_, err = s.PutProject(b.Context(), boss, "default-shop", countersign.ProjectWrite{Name: "Shop", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "refund", Method: "POST", Path: "/refunds", InputSchema: text, Approval: countersign.ApprovalNone},
		{Name: "budgeted", Method: "POST", Path: "/refunds", InputSchema: text, Approval: countersign.ApprovalNone, Budgets: budgets},
	}})
	no(b, err)
	_, err = s.CheckHealth(b.Context(), boss, "default-shop")
	no(b, err)
	_, err = s.EnableProject(b.Context(), boss, "default-shop", countersign.Toggle{ExpectedRevision: 1})
	no(b, err)
	doc := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: "m", States: []countersign.ModelState{{ID: "s", IsStart: true, IsFinal: true}}}
	_, err = s.PutModel(b.Context(), boss, "m", countersign.ModelWrite{Document: doc})
	no(b, err)
	return &stepBed{b, st, s, boss, newID}
}

// one runs a run of steps of a capability to its end.
func (s *stepBed) one(capability string) {
	b := s.b
	w := countersign.PlanWrite{Name: "Refund", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeLive}
	for i := range blockSteps {
		w.Steps = append(w.Steps, countersign.Step{ID: fmt.Sprintf("s%d", i), ProjectID: "default-shop", Capability: capability, Input: map[string]countersign.Value{"orderId": countersign.String(s.newID("A")), "amount": countersign.RawValue("24.90")}})
	}
	p, err := s.service.CreatePlan(b.Context(), s.boss, w)
	no(b, err)
	started, err := s.service.StartRun(b.Context(), s.boss, countersign.RunStart{PlanID: p.ID}, s.newID("key"))
	no(b, err)
	watched, err := s.service.Watch(b.Context(), s.boss, started.Run.ID)
	no(b, err)
	defer watched.Close()
	r := &watched.Now
	for !r.Status.IsTerminal() {
		r = <-watched.Changes.C
	}
	if r.Status != countersign.RunCompleted {
		b.Fatalf("run %s is %s: %s", r.ID, r.Status, r.Error)
	}
}

func (s *stepBed) block(capability string) time.Duration { return s.part(capability, blockRuns) }

func (s *stepBed) part(capability string, runs int) time.Duration {
	began := time.Now()
	for range runs {
		s.one(capability)
	}
	return time.Since(began)
}

func no(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
