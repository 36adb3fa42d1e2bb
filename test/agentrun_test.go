package test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// agentRun is the body of a run of an agent at revision 1. A LIVE run has an expectation that the receiver's default answer
// meets.
func agentRun(mode, capability string, inputs doc) doc {
	body := doc{"expectedRevision": 1, "mode": mode, "capability": capability}
	if inputs != nil {
		body["inputs"] = inputs
	}
	if mode == "LIVE" {
		body["expectation"] = doc{"field": "ok", "equals": true}
	}
	return body
}

// asks starts an agent run.
func (w *world) asks(id string, body doc) *harness.Answer {
	return w.operator.Post("/agents/"+id+"/runs", body, key())
}

func TestAnAgentRunIsARunOfOneStepByTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := at(4, fixing(agentItem("clerk", "note", "refund"), doc{"note": doc{"currency": "EUR", "rate": number("1.10")}}))
	id := w.admitted(t, item)[0]
	answer := w.asks(id, agentRun("LIVE", "note", doc{"amount": number("5.0")}))
	run := answer.OK(t).Is(t, "status", "READY").Is(t, "mode", "LIVE").Is(t, "agentId", id).Is(t, "teamId", harness.Absent).Is(t, "steps.1", harness.Absent)
	if answer.Status != 202 || answer.Header.Get("Idempotency-Replayed") != "" {
		t.Error(answer, answer.Header)
	}
	run.Is(t, "steps.0.agentId", id).Is(t, "steps.0.status", "PENDING").Is(t, "steps.0.projectId", shop).Is(t, "steps.0.capability", "note").Is(t, "steps.0.dependsOn", []any{})
	snapshot := run.At("planSnapshot").Is(t, "team", harness.Absent).Is(t, "agents", []doc{{
		"id": id, "projectId": shop, "revision": 1, "sourceRevision": 4, "modelId": "refund", "modelRevision": 1,
		"executorInputs": doc{"note": doc{"currency": "EUR", "rate": number("1.1")}},
	}})
	snapshot.Is(t, "models.0.id", "refund").Is(t, "models.0.revision", 1).Is(t, "models.0.document.name", "Refund").Is(t, "models.1", harness.Absent)
	snapshot.Is(t, "modelId", "refund").Is(t, "modelRevision", 1).Is(t, "projectSnapshots.0.id", shop).Is(t, "steps.0.agentId", id)
	done := w.reaches(t, run.At("id").Text(), "COMPLETED").Is(t, "agentId", id).Is(t, "steps.0.verification.status", "PASSED").Is(t, "unverifiedSteps", 0)
	done.Is(t, "planSnapshot", snapshot)
	if got := string(w.shop.Seen("POST", "/notes")[0].Body); got != `{"amount":5.0,"currency":"EUR","rate":1.10}` {
		t.Errorf("the body was %s", got)
	}
	w.viewer.Get("/runs").OK(t).Is(t, "items.0.agentId", id).Is(t, "items.0.steps.0.agentId", id)
}

func TestTheRehearsalOfAnAgentSendsNothingAndExpectsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, fixing(agentItem("clerk", "note", "refund"), doc{"note": doc{"currency": "EUR"}}))[0]
	before := w.shop.Connections()
	for _, body := range []doc{agentRun("DRY_RUN", "note", doc{"amount": 5}), harness.Without(agentRun("DRY_RUN", "note", doc{"amount": 5}), "mode")} {
		run := w.reaches(t, w.asks(id, body).OK(t).At("id").Text(), "COMPLETED").Is(t, "mode", "DRY_RUN").Is(t, "steps.0.status", "SIMULATED")
		run.Is(t, "steps.0.request.body", doc{"amount": 5, "currency": "EUR"}).Is(t, "steps.0.verification.status", "SIMULATED").Is(t, "steps.0.output", nil)
	}
	dry := agentRun("LIVE", "note", doc{"amount": 5})
	dry["mode"] = "DRY_RUN" // a rehearsal may have an expectation
	rehearsal := w.asks(id, dry).OK(t)
	w.reaches(t, rehearsal.At("id").Text(), "COMPLETED").Is(t, "steps.0.verification.expected", true)
	if now := w.shop.Connections(); now != before {
		t.Errorf("%d connections were opened", now-before)
	}
	live := w.asks(id, agentRun("LIVE", "note", doc{"amount": 5})).OK(t).Is(t, "planDigest", rehearsal.At("planDigest")) // the run refers to the rehearsal by it
	w.reaches(t, live.At("id").Text(), "COMPLETED")
}

func TestALIVEAgentRunNeedsAnExpectationAndFailsWhereItIsNotMet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	live := agentRun("LIVE", "note", nil)
	w.asks(id, harness.Without(live, "expectation")).Refused(t, "expectation_required", "expectation")
	for _, bad := range []any{doc{}, doc{"field": "ok"}, doc{"equals": true}, doc{"field": "", "equals": true}, doc{"field": "ok", "equals": true, "statusCode": 404}} {
		w.asks(id, harness.With(live, "expectation", bad)).Refused(t, "invalid_request", "expectation")
	}
	w.viewer.Get("/plans").OK(t).Is(t, "total", 0)
	run := w.reaches(t, w.asks(id, harness.With(live, "expectation.equals", "done")).OK(t).At("id").Text(), "FAILED") // a 200 proves nothing
	run.Has(t, "error", "expectation_not_met: ").Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.response.statusCode", 200)
}

func TestAnAgentRunPassesTheApprovalGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, fixing(agentItem("clerk", "refund", "refund"), doc{"refund": doc{"amount": 7}}))[0]
	both := w.principal(t, "OPERATOR", "APPROVER")
	run := both.Post("/agents/"+id+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t).Is(t, "steps.0.approvalRequired", true).At("id").Text()
	approval := w.approval(t, run).Is(t, "inputSnapshot", doc{"amount": 7, "orderId": "o"}).Is(t, "request.body", doc{"amount": 7, "orderId": "o"})
	both.Post("/approvals/"+approval.At("id").Text()+"/decision", approved).Refused(t, "self_approval")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests left before the approval", n)
	}
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.request", approval.At("request")).Is(t, "steps.0.requestDigest", approval.At("requestDigest"))
	rejected := w.asks(id, agentRun("LIVE", "refund", doc{"orderId": "o"})).OK(t).At("id").Text()
	w.approver.Post("/approvals/"+w.approval(t, rejected).At("id").Text()+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	w.reaches(t, rejected, "FAILED").Has(t, "error", "approval_rejected: ")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestThePlanOfAnAgentRunReadsLikeAnyPlanAndRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	run := w.reaches(t, w.asks(id, agentRun("LIVE", "note", nil)).OK(t).At("id").Text(), "COMPLETED")
	planID := run.At("planId").Text()
	w.viewer.Get("/plans?status=READY&modelId=refund").OK(t).Is(t, "total", 1).Is(t, "items.0.id", planID).Is(t, "items.0.agents.0.id", id).
		Is(t, "items.0.models", harness.Absent).Is(t, "items.0.modelSnapshot", harness.Absent)
	plan := w.viewer.Get("/plans/"+planID).OK(t).Is(t, "validationErrors", []any{})
	if diff := cmp.Diff(run.At("planSnapshot").Doc(), plan.Without("createdByName")); diff != "" {
		t.Errorf("the run's plan is another: %s", diff)
	}
	w.viewer.Get("/runs?planId="+planID).OK(t).Is(t, "items.0.id", run.At("id"))
	w.operator.Post("/runs", doc{"planId": planID}, key()).Refused(t, "state_conflict")
	s := plan.At("steps.0").Doc()
	w.operator.Post("/plans", harness.With(planOf(harness.With(s, "agentId", id)), "id", planID)).Refused(t, "invalid_request", "agentId") // the service says who
	delete(s, "agentId")
	w.operator.Post("/plans", harness.With(harness.With(planOf(s), "id", planID), "name", plan.At("name").Text())).Refused(t, "state_conflict")
	w.viewer.Get("/plans/"+planID+"/drift").OK(t).Is(t, "current", true).Is(t, "changes", []any{})
	w.tenantAdmin.Post("/agents/"+id+"/suspend", doc{"reason": "r"}).OK(t)
	w.viewer.Get("/plans/"+planID+"/drift").OK(t).Is(t, "current", false).Is(t, "changes.0.kind", "agent").Is(t, "changes.0.id", id).
		Is(t, "changes.0.planned", 1).Is(t, "changes.0.current", 2).Is(t, "changes.0.suspended", true).Is(t, "changes.1", harness.Absent)
	w.operator.Post("/runs", doc{"planId": planID}, key()).Refused(t, "state_conflict")
}
