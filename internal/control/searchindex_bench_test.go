package control_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/sqlite"
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
	const runs, steps = 400, 10 // blocks of many rests of whoever indexes
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
	defer func() { e.Stop(0); s.Close(); _ = st.Close() }()
	boss := control.Actor{Principal: access.Principal{ID: "user:boss@example.com", Tenant: countersign.DefaultTenant, Roles: []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator}}, RequestID: "req-bench"}
	text := map[string]countersign.InputField{"orderId": {Type: "string"}, "amount": {Type: "number"}}
	_, err = s.PutProject(b.Context(), boss, "default-shop", countersign.ProjectWrite{Name: "Shop", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "refund", Method: "POST", Path: "/refunds", InputSchema: text, Approval: countersign.ApprovalNone},
	}})
	no(b, err)
	_, err = s.CheckHealth(b.Context(), boss, "default-shop")
	no(b, err)
	_, err = s.EnableProject(b.Context(), boss, "default-shop", countersign.Toggle{ExpectedRevision: 1})
	no(b, err)
	doc := countersign.AgentModel{SchemaVersion: countersign.ModelSchemaVersion, ID: "m", States: []countersign.ModelState{{ID: "s", IsStart: true, IsFinal: true}}}
	_, err = s.PutModel(b.Context(), boss, "m", countersign.ModelWrite{Document: doc})
	no(b, err)
	one := func() {
		w := countersign.PlanWrite{Name: "Refund", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeLive}
		for i := range steps {
			w.Steps = append(w.Steps, countersign.Step{ID: fmt.Sprintf("s%d", i), ProjectID: "default-shop", Capability: "refund", Input: map[string]countersign.Value{"orderId": countersign.String(newID("A")), "amount": countersign.RawValue("24.90")}})
		}
		p, err := s.CreatePlan(b.Context(), boss, w)
		no(b, err)
		started, err := s.StartRun(b.Context(), boss, countersign.RunStart{PlanID: p.ID}, newID("key"))
		no(b, err)
		watched, err := s.Watch(b.Context(), boss, started.Run.ID)
		no(b, err)
		defer watched.Close()
		for r := &watched.Now; !r.Status.IsTerminal(); r = <-watched.Changes.C {
		}
	}
	block := func() time.Duration {
		began := time.Now()
		for range runs {
			one()
		}
		return time.Since(began)
	}
	block()
	var without, with time.Duration
	for b.Loop() {
		without += block()
		ctx, stop := context.WithCancel(b.Context())
		s.IndexRuns(ctx, 0)
		with += block()
		stop()
	}
	b.ReportMetric(float64(without.Microseconds())/float64(b.N*runs*steps), "µs/step-without")
	b.ReportMetric(float64(with.Microseconds())/float64(b.N*runs*steps), "µs/step-with")
	b.ReportMetric(100*(float64(with)/float64(without)-1), "slower-%")
}

func no(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
