package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// call starts a run of one capability of the shop.
func (w *world) call(who *harness.Client, body doc, headers ...harness.Header) *harness.Answer {
	if len(headers) == 0 {
		headers = []harness.Header{key()}
	}
	return who.Post("/projects/"+shop+"/runs", body, headers...)
}

func TestOneCallIsARunOfOneStepWithoutAModel(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	answer := w.call(w.operator, doc{"capability": "note", "mode": "LIVE", "inputs": doc{"text": "hi", "n": number("1.50")}, "expectation": doc{"field": "ok", "equals": true}})
	if answer.Status != 202 {
		t.Fatal(answer)
	}
	id := answer.OK(t).Is(t, "status", "READY").Is(t, "agentId", harness.Absent).At("id").Text()
	run := w.reaches(t, id, "COMPLETED").Is(t, "steps.0.verification.status", "PASSED").Is(t, "unverifiedSteps", 0).Is(t, "steps.1", harness.Absent)
	plan := run.At("planSnapshot").Is(t, "modelId", harness.Absent).Is(t, "modelSnapshot", harness.Absent).Is(t, "projects", []doc{{"id": shop, "revision": 1}}).Is(t, "status", "READY")
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"n":1.50,"text":"hi"}` {
		t.Errorf("the body was %s", got)
	}
	w.holds(t, w.viewer, id)
	planID := plan.At("id").Text()
	w.viewer.Get("/plans/"+planID+"/drift").OK(t).Is(t, "current", true)
	w.viewer.Get("/plans/"+planID).OK(t).Is(t, "modelId", harness.Absent)
	w.operator.Post("/runs", doc{"planId": planID}, key()).Refused(t, "state_conflict", "single call")
}

func TestOneCallPassesTheSameGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o", "amount": 5}}
	id := w.call(w.operator, body).OK(t).At("id").Text()
	w.approval(t, id).Is(t, "request.body", doc{"amount": 5, "orderId": "o"})
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Fatalf("%d requests were sent before the approval", n)
	}
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED").Is(t, "unverifiedSteps", 1) // nothing judges it, which a single call may
	edited := w.call(w.operator, body).OK(t).At("id").Text()
	w.approval(t, edited)
	w.Admin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.approve(t, edited)
	w.reaches(t, edited, "FAILED").Has(t, "error", "project_disabled")
}

func TestOneCallThatDoesNotFitStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plans := w.viewer.Get("/plans").OK(t).At("total").Int()
	for _, bad := range []struct {
		body doc
		why  string
	}{
		{doc{"capability": "none"}, "capability: project " + shop + " has no capability none"},
		{doc{"capability": "refund"}, "inputs.orderId: is required by refund"},
		{doc{"capability": "refund", "inputs": doc{"orderId": 5}}, "inputs.orderId: must be string, not number"},
		{doc{"capability": "refund", "inputs": doc{"orderId": "o", "other": 5}}, "inputs.other: refund takes no such input"},
		{doc{"capability": "note", "mode": "HOT"}, "mode"},
		{doc{"capability": "note", "modelId": "refund"}, "modelId"},
		{doc{"mode": "LIVE"}, "capability"},
	} {
		w.call(w.operator, bad.body).Refused(t, "invalid_request", bad.why)
	}
	w.operator.Post("/projects/"+shop+"/runs", doc{"capability": "note"}).Refused(t, "idempotency_key_required")
	w.operator.Post("/projects/default-none/runs", doc{"capability": "note"}, key()).Refused(t, "not_found")
	if now := w.viewer.Get("/plans").OK(t).At("total").Int(); now != plans {
		t.Errorf("%d plans were stored", now-plans)
	}
	w.Admin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 1}).OK(t)
	w.call(w.operator, doc{"capability": "none", "mode": "LIVE"}).Refused(t, "project_disabled")
	w.reaches(t, w.call(w.operator, doc{"capability": "note"}).OK(t).At("id").Text(), "COMPLETED").Is(t, "mode", "DRY_RUN").Is(t, "steps.0.status", "SIMULATED")
}

func TestOneCallOfAKeyIsOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := harness.Header("Idempotency-Key: one-call")
	body := doc{"capability": "note", "mode": "LIVE", "inputs": doc{"n": number("1.0")}}
	id := w.call(w.operator, body, own).OK(t).At("id").Text()
	w.reaches(t, id, "COMPLETED")
	again := w.call(w.operator, harness.With(body, "inputs", doc{"n": 1}), own)
	if again.Header.Get("Idempotency-Replayed") != "true" || again.OK(t).At("id").Text() != id {
		t.Error(again)
	}
	w.call(w.operator, harness.With(body, "inputs", doc{"n": 2}), own).Refused(t, "idempotency_conflict")
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestOneCallIsForOperatorsInScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := doc{"capability": "note"}
	for _, who := range []*harness.Client{w.viewer, w.approver, w.tenantAdmin} {
		w.call(who, body).Refused(t, "role_required")
	}
	w.register(t, "default-other", harness.Project(w.shop.Origin()))
	limited, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "projectIds": []string{"default-other"}})
	w.call(limited, body).Refused(t, "project_scope")
	rehearser, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	w.call(rehearser, harness.With(body, "mode", "LIVE")).Refused(t, "role_required")
	id := w.call(rehearser, body).OK(t).At("id").Text()
	limited.Get("/runs/"+id).Refused(t, "project_scope")
	agent := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	agents, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "agentIds": []string{agent}})
	w.call(agents, body).Refused(t, "role_required")
	agents.Get("/runs/"+id).Refused(t, "role_required")
}

// TestAnAgentWithoutAModelRunsItsCapabilities; a changed agent is still drift.
func TestAnAgentWithoutAModelRunsItsCapabilities(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	item := agentItem("clerk", "note", "")
	id := w.admitted(t, item)[0]
	run := w.asks(id, agentRun("LIVE", "note", doc{"amount": 5})).OK(t)
	done := w.reaches(t, run.At("id").Text(), "COMPLETED").Is(t, "agentId", id)
	done.At("planSnapshot").Is(t, "agents.0.modelId", harness.Absent).Is(t, "models", harness.Absent).Is(t, "modelId", harness.Absent)
	w.holds(t, w.viewer, run.At("id").Text())
	w.viewer.Get("/plans/"+run.At("planId").Text()+"/drift").OK(t).Is(t, "current", true)
	w.sync(t, at(2, item))
	w.viewer.Get("/plans/"+run.At("planId").Text()+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.0.kind", "agent").Is(t, "changes.1", harness.Absent)
	w.asks(id, agentRun("LIVE", "note", nil)).Refused(t, "revision_conflict")
}
