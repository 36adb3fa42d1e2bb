package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestALateFirstSendingIsNotDenied: a first sending isn't answered in time, a person confirms that it was not executed, and the run ends by a
// refusal or a rejection. Then the first sending takes effect. Neither the run nor the agent's tool has said that nothing happened.
func TestALateFirstSendingIsNotDenied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ decision, code string }{"refused": {"APPROVED", "receiver_refused"}, "rejected": {"REJECTED", "approval_rejected"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.register(t, shop, harness.With(harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
				harness.Capability("pay", "POST", "/pay", doc{"approval": "ALWAYS", "idempotent": true, "timeoutMs": 1000, "expectation": doc{"field": "id", "equals": "p-1"}}),
			}), "expectedRevision", 1))
			a := w.enters(t, w.operator, w.admitted(t, harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"pay"}))[0])
			held := make(chan struct{})
			w.shop.On("POST", "/pay", harness.After(held, harness.Answering(201, `{"id":"p-1"}`)), harness.Answering(422, `{"error":"limit"}`))
			id := a.runs("pay", doc{"task": "pay"}).Is(t, "outcome", "WAITING_FOR_A_PERSON").At("runId").Text()
			w.approve(t, id)
			step := w.reaches(t, id, "RECOVERY_REQUIRED").At("steps.0")
			w.shop.MayRepeat(step.At("idempotencyKey").Text())
			w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_NOT_EXECUTED", nil)).OK(t).Is(t, "mayHaveHappened", true)
			again := w.approval(t, id).At("id").Text()
			w.approver.Post("/approvals/"+again+"/decision", doc{"decision": c.decision, "reason": "seen"}).OK(t)
			says := func() {
				t.Helper()
				w.reaches(t, id, "FAILED").Is(t, "steps.0.error.code", c.code).Is(t, "mayHaveHappened", true).Is(t, "steps.0.mayHaveHappened", true)
				a.runs("run_status", doc{"runId": id}).Is(t, "outcome", "UNKNOWN").Has(t, "error", c.code)
			}
			says()
			close(held)
			says()
		})
	}
}
