package test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// neighbour is another tenant on a server, with a project at the same receiver.
type neighbour struct {
	*harness.Client
	plan string
}

func (w *world) neighbour(t *testing.T, id string, s doc) neighbour {
	t.Helper()
	w.Admin.Put("/tenants/"+id, doc{"name": id}).OK(t)
	c, _ := w.token(t, doc{"tenantId": id, "roles": []string{"ADMIN", "OPERATOR"}})
	c.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	c.Put("/projects/"+id+"-shop", harness.Project(w.shop.Origin())).OK(t)
	enabled(t, c, id+"-shop")
	plan := c.Post("/plans", planOf(harness.With(s, "projectId", id+"-shop"))).OK(t).Is(t, "status", "READY")
	return neighbour{c, plan.At("id").Text()}
}

func (n neighbour) begin() *harness.Answer { return n.Post("/runs", doc{"planId": n.plan}, key()) }

// TestATenantDoesNotHoldAllSlots if there are several tenants: a run beyond its share is answered 503 even while a slot is free, and
// another tenant can use that slot.
func TestATenantDoesNotHoldAllSlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "3"), listedFor("default", "acme"))
	gate := make(chan struct{})
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{}`)))
	patient := step("p", "patient", nil)
	acme := w.neighbour(t, "acme", patient)
	plan := w.ready(t, planOf(patient))
	ours := []string{w.start(t, plan), w.start(t, plan)}
	refused := w.operator.Post("/runs", doc{"planId": plan}, key())
	refused.Refused(t, "capacity", "default", "2 of 3")
	if refused.Status != 503 || refused.Header.Get("Retry-After") == "" {
		t.Error(refused)
	}
	theirs := acme.begin().OK(t).At("id").Text()
	acme.begin().Refused(t, "capacity") // acme has less than its share, but no slot is free
	close(gate)
	for _, id := range ours {
		w.reaches(t, id, "COMPLETED")
	}
	harness.Until(t, "the neighbour's run completes", func() bool {
		return acme.Get("/runs/"+theirs).OK(t).At("status").Text() == "COMPLETED"
	})
	w.reaches(t, w.start(t, plan), "COMPLETED")
}

// TestTheShareOfATenantIsASetting, which also applies to the only tenant.
func TestTheShareOfATenantIsASetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS_PER_TENANT", "1"))
	busy, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "capacity", "1 of 4")
	close(gate)
	w.reaches(t, busy, "COMPLETED")
	w.reaches(t, w.start(t, plan), "COMPLETED")
}

// TestTheOnlyTenantMayHoldEverySlot: an installation with one tenant behaves as before.
func TestTheOnlyTenantMayHoldEverySlot(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	defer close(gate)
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "4"))
	w.shop.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{}`)))
	plan := w.ready(t, planOf(step("p", "patient", nil)))
	for range 4 {
		w.start(t, plan)
	}
	w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "capacity", "4 of 4")
}

// TestRefusalsThatRepeatDoNotFillTheAuditLog: hundreds of refusals of a VIEWER are one record at once, and one with their count when the
// minute or the service ends.
func TestRefusalsThatRepeatDoNotFillTheAuditLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "4"))
	n := w.recorded(t)
	const times = 300
	together(times, func(i int) string {
		w.viewer.Put(fmt.Sprintf("/models/m%d", i%2), doc{}).Refused(t, "role_required")
		return ""
	})
	if actions, records := w.since(t, n); len(actions) != 1 || records[0].At("outcome").Text() != "refused: role_required" {
		t.Errorf("%v", actions)
	} else {
		records[0].Is(t, "count", harness.Absent)
	}
	w.Stop()
	w.Restart()
	_, records := w.since(t, n)
	counted := 0
	for _, repeats := range records[1:min(1+harness.Replicas, len(records))] { // each replica counts its own
		repeats.Is(t, "subject", "model/*").Is(t, "action", "models.write").Is(t, "outcome", "refused: role_required")
		counted += repeats.At("count").Int()
	}
	if counted != times-1 {
		t.Errorf("%d are counted: %v", counted, records)
	}
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}

func TestAnAgentHasAThousandInstances(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("one", "note", ""))[0]
	answers := together(1000, func(i int) string {
		return result(w.beats(id, doc{"instanceId": fmt.Sprintf("i-%d", i), "sequence": 1, "state": "IDLE", "timestamp": away(0)}))
	})
	if answers["done"] != 1000 {
		t.Fatalf("%v", answers)
	}
	one := doc{"instanceId": "one more", "sequence": 1, "state": "IDLE", "timestamp": away(0)}
	w.beats(id, one).Refused(t, "quota_exceeded", "instances", "1000")
	w.beats(id, harness.With(harness.With(one, "instanceId", "i-7"), "sequence", 2)).OK(t)
	w.viewer.Get("/agents/"+id).OK(t).Is(t, "instanceCount", 1000)
}

// TestBoundsOfATenantAreSettings: the refusal is a 409 that names the setting.
func TestBoundsOfATenantAreSettings(t *testing.T) {
	t.Parallel()
	l := newListening(t, harness.Set("MAX_PENDING_APPROVALS_PER_TENANT", "1"), harness.Set("MAX_INSTANCES_PER_AGENT", "1"),
		harness.Set("MAX_MODEL_BYTES_PER_TENANT", "20000"), harness.Set("MAX_PROBES_PER_RUN", "1"), harness.Set("MAX_WEBHOOKS_PER_TENANT", "1"))
	w := l.world
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	waiting := w.start(t, plan)
	w.approval(t, waiting)
	for range 2 {
		w.operator.Post("/runs", doc{"planId": plan}, key()).Refused(t, "quota_exceeded", "pending approvals")
	}
	w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED") // which asks for none
	w.approve(t, waiting)
	w.reaches(t, waiting, "COMPLETED")
	uncertain := w.start(t, plan)
	w.approval(t, uncertain)
	id := w.sync(t, agentItem("one", "note", ""))[0]
	beat := doc{"instanceId": "a", "sequence": 1, "state": "IDLE", "timestamp": away(0)}
	w.beats(id, beat).OK(t)
	w.beats(id, harness.With(beat, "instanceId", "b")).Refused(t, "quota_exceeded", "instances")
	long := harness.With(harness.Model("long"), "name", strings.Repeat("x", 15000))
	w.operator.Put("/models/long", doc{"document": long}).OK(t)
	w.operator.Put("/models/long", doc{"document": long, "expectedRevision": 1}).Refused(t, "quota_exceeded", "model bytes", "20000")
	w.tenantAdmin.Post("/models/long/suspend", doc{"reason": "r"}).OK(t)
	l.Admin.Put("/webhooks/one", l.hook("/one")).OK(t)
	l.Admin.Put("/webhooks/two", l.hook("/two")).Refused(t, "quota_exceeded", "webhooks")
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	w.approve(t, uncertain)
	w.reaches(t, uncertain, "RECOVERY_REQUIRED")
	w.approver.Post("/runs/"+uncertain+"/probe", doc{"stepId": "r"}).OK(t)
	w.approver.Post("/runs/"+uncertain+"/probe", doc{"stepId": "r"}).Refused(t, "quota_exceeded", "probes")
}
