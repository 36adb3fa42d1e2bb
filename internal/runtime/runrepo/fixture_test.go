package runrepo_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// fataler is what the house needs of *testing.T and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

const (
	limit = 2
	ttl   = 24 * time.Hour
)

var dawn = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// fixture is a store with the model, the shop and a plan in two tenants, the
// repository over it, and its clock.
type fixture struct {
	t          fataler
	store      store.Store
	repository *runrepo.Repository
	now        time.Time
	ids        int
	plans      map[string]*countersign.Plan
}

func open(t fataler) *fixture {
	t.Helper()
	h := &fixture{t: t, store: memory.New(), now: dawn, plans: map[string]*countersign.Plan{}}
	h.repository = runrepo.New(runrepo.Config{
		MaxActive: limit, ApprovalTTL: ttl, NewID: h.newID, OriginAllowed: func(string) bool { return true },
		Now: func() time.Time { return h.now },
	})
	for _, tenant := range []string{"acme", "beta"} {
		h.plans[tenant] = h.register(tenant, "plan-1", step("refund", "refund"), step("pay", "pay", "refund"))
	}
	return h
}

func (h *fixture) newID(prefix string) string {
	h.ids++
	return prefix + "-" + strconv.Itoa(1000+h.ids)
}

func step(id, capability string, dependsOn ...string) countersign.Step {
	return countersign.Step{ID: id, Name: id, ProjectID: "shop", Capability: capability, DependsOn: dependsOn}
}

func shop() *countersign.Project {
	return &countersign.Project{
		ID: "shop", Revision: 1, Name: "Shop", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com", Enabled: true, AuthSecretEnv: "SHOP_SECRET",
		Capabilities: []countersign.Capability{
			{Name: "look", Method: "GET", Path: "/orders"},
			{Name: "pay", Method: "POST", Path: "/payments", Approval: countersign.ApprovalNone},
			{Name: "refund", Method: "POST", Path: "/refunds"},
		},
	}
}

// register stores a plan, and what it is made from where that is not there yet.
func (h *fixture) register(tenant, id string, steps ...countersign.Step) *countersign.Plan {
	h.t.Helper()
	src := plan.Sources{Model: &countersign.Model{ID: "refunds", Revision: 1}, Projects: map[string]plan.Source{"shop": {Project: shop(), InScope: true}}}
	w := countersign.PlanWrite{ID: id, Name: "Plan", ModelID: "refunds", ModelRevision: 1, Steps: steps, Mode: countersign.ModeLive}
	p := plan.New(w, src, nil, plan.Creation{By: "user:ada@example.com", Now: h.now})
	h.update(func(tx store.Tx) error {
		if _, _, err := records.Models.Get(tx, tenant, "refunds"); errors.Is(err, store.ErrNotFound) {
			if err := install(tx, tenant); err != nil {
				return err
			}
		}
		_, err := records.Plans.Put(tx, tenant, p.ID, &records.Plan{Plan: p}, 0)
		return err
	})
	return &p
}

func install(tx store.Tx, tenant string) error {
	if _, err := records.Models.Put(tx, tenant, "refunds", &records.ModelHead{ID: "refunds", Revision: 1, DocumentRevision: 1}, 0); err != nil {
		return err
	}
	if _, err := records.Projects.Put(tx, tenant, "shop", &records.ProjectHead{ID: "shop", Revision: 1, Enabled: true}, 0); err != nil {
		return err
	}
	_, err := records.ProjectRevisions.Put(tx, tenant, records.RevisionID("shop", 1), shop(), 0)
	return err
}

func (h *fixture) update(fn func(tx store.Tx) error) {
	h.t.Helper()
	if err := h.store.Update(context.Background(), fn); err != nil {
		h.t.Fatalf("Update: %v", err)
	}
}

func (h *fixture) view(fn func(tx store.Tx) error) {
	h.t.Helper()
	if err := h.store.View(context.Background(), fn); err != nil {
		h.t.Fatalf("View: %v", err)
	}
}

// start begins a run of the tenant's plan, if a slot is free.
func (h *fixture) start(tenant string) (ref runrepo.Ref, err error) {
	h.t.Helper()
	return h.startOf(tenant, "plan-1")
}

func (h *fixture) startOf(tenant, id string) (ref runrepo.Ref, err error) {
	h.t.Helper()
	ref = runrepo.Ref{Tenant: tenant, RunID: h.newID("run")}
	err = h.store.Update(context.Background(), func(tx store.Tx) error {
		if err := h.repository.Free(tx, ref.Tenant, h.plans[tenant].Mode); err != nil {
			return err
		}
		p, err := h.repository.Plan(tx, tenant, id, h.plans[tenant].PlanDigest)
		if err != nil {
			return err
		}
		r := run.New(p, ref.RunID, "user:ada@example.com", ref.RunID, h.now)
		_, err = h.repository.Start(tx, p, tenant, r, access.Requester{ID: "user:ada@example.com", Email: "ada@example.com"}, runrepo.Request{ID: "req-1"})
		return err
	})
	return ref, err
}

func (h *fixture) mustStart(tenant string) runrepo.Ref {
	h.t.Helper()
	ref, err := h.start(tenant)
	if err != nil {
		h.t.Fatalf("start: %v", err)
	}
	return ref
}

var bob = runrepo.Actor{ID: "user:bob@example.com", RequestID: "req-2"}

func (h *fixture) apply(ref runrepo.Ref, e run.Event) (moved runrepo.Moved, err error) {
	h.t.Helper()
	err = h.store.Update(context.Background(), func(tx store.Tx) (err error) {
		moved, err = h.repository.Apply(tx, ref, nil, e, bob)
		return err
	})
	return moved, err
}

func (h *fixture) must(ref runrepo.Ref, events ...run.Event) (moved runrepo.Moved) {
	h.t.Helper()
	for _, e := range events {
		var err error
		if moved, err = h.apply(ref, e); err != nil {
			h.t.Fatalf("%T: %v", e, err)
		}
	}
	return moved
}

func (h *fixture) load(ref runrepo.Ref) (held *runrepo.LoadedRun) {
	h.t.Helper()
	h.view(func(tx store.Tx) (err error) {
		held, err = h.repository.Load(tx, ref)
		return err
	})
	return held
}

func decide(d countersign.ApprovalStatus) run.Decided {
	return run.Decided{Decision: d, Reason: "seen", By: bob.ID}
}

// answer is the outcome of the step in flight.
func (h *fixture) answer(ref runrepo.Ref, o request.Outcome) run.Event {
	h.t.Helper()
	for i, s := range h.load(ref).Run().Steps {
		if s.Status == countersign.StepRunning {
			return run.Returned{Step: i, Attempt: s.Attempt, Outcome: o}
		}
	}
	return run.Returned{Outcome: o}
}

func fine() request.Outcome {
	return request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 200}, Body: countersign.RawValue(`{}`)}
}

func lost() request.Outcome {
	return request.Outcome{Certainty: request.Unknown, Cause: "no answer"}
}

func neverSent() request.Outcome {
	return request.Outcome{Certainty: request.NotSent, Cause: "no such host"}
}

func refused() request.Outcome {
	return request.Outcome{Certainty: request.Returned, Response: &countersign.Response{StatusCode: 422}}
}

var _ fataler = (*testing.T)(nil)
