package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestAStartBeyondTheLimitIsRefusedUntilASlotIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	busy, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	if a := w.operator.Post("/runs", doc{"planId": plan}, key()); a.Header.Get("Retry-After") == "" || a.Status != 503 {
		t.Error(a)
	} else {
		a.Refused(t, "capacity")
	}
	dry := w.ready(t, harness.With(planOf(step("n", "note", nil)), "mode", "DRY_RUN"))
	w.operator.Post("/runs", doc{"planId": dry}, key()).Refused(t, "capacity")
	close(gate)
	w.reaches(t, busy, "COMPLETED")
	w.reaches(t, w.start(t, plan), "COMPLETED")
}

func TestOther409sComeBeforeCapacity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	invalid := w.operator.Post("/plans", planOf()).OK(t).At("id").Text()
	w.operator.Put("/models/other", doc{"document": harness.Model("other")}).OK(t)
	drifted := w.ready(t, harness.With(planOf(step("n", "note", nil)), "modelId", "other"))
	w.operator.Put("/models/other", doc{"document": harness.Model("other"), "expectedRevision": 1}).OK(t)
	_, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	defer close(gate)
	w.operator.Post("/runs", doc{"planId": invalid}, key()).Refused(t, "plan_invalid")
	w.operator.Post("/runs", doc{"planId": drifted}, key()).Refused(t, "drift")
}

func TestARunWhoseApprovalCameThroughWaitsForASlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	refund := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	waiting := make([]string, 3)
	for i := range waiting {
		waiting[i] = w.start(t, refund)
		w.approval(t, waiting[i])
	}
	first, second, third := waiting[0], waiting[1], waiting[2]
	busy, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	for _, id := range []string{second, first, third} {
		w.approve(t, id)
		w.viewer.Get("/runs/"+id).OK(t).Is(t, "status", "WAITING_APPROVAL").Is(t, "waitingFor.kind", "slot").Is(t, "waitingFor.stepId", "r")
	}
	w.operator.Post("/runs", doc{"planId": refund}, key()).Refused(t, "capacity") // new starts come after the queue
	w.cancel(t, third).Is(t, "status", "CANCELLED").Is(t, "steps.0.status", "CANCELLED")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests left without a slot", n)
	}
	close(gate)
	w.reaches(t, busy, "COMPLETED")
	w.reaches(t, first, "COMPLETED")
	w.reaches(t, second, "COMPLETED")
	if got := w.shop.Seen("POST", "/refunds")[0].Header.Get("X-Runtime-Run-Id"); got != second {
		t.Errorf("%s went first; %s was approved first", got, second)
	}
}

func TestAReconciledRunWaitsForASlotAndCanBeCancelledMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
	w.shop.On("POST", "/effect", harness.Answering(500, `{}`))
	plan := w.ready(t, planOf(step("a", "effect", nil), step("b", "note", nil)))
	var ids []string
	for range 2 {
		id := w.start(t, plan)
		w.reaches(t, id, "RECOVERY_REQUIRED")
		ids = append(ids, id)
	}
	busy, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	for _, id := range ids {
		w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{})).OK(t).Is(t, "status", "RECOVERY_REQUIRED").
			Is(t, "steps.0.status", "COMPLETED").Is(t, "waitingFor.kind", "slot")
	}
	w.cancel(t, ids[0]).Is(t, "status", "CANCELLED").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.1.status", "CANCELLED")
	close(gate)
	w.reaches(t, busy, "COMPLETED")
	harness.Until(t, "the reconciled run to go on", func() bool {
		return w.viewer.Get("/runs/"+ids[1]).OK(t).At("status").Text() == "COMPLETED"
	})
}
