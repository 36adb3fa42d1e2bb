package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestNobodySaysWhatBecameOfACallOnItsWay: the answer that still comes could contradict it.
func TestNobodySaysWhatBecameOfACallOnItsWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", nil), harness.Answering(200, `{"id":"paid"}`))
	from := w.cancel(t, id).At("waitingFor.notBefore").Text()
	if from == "" {
		t.Fatal("the run doesn't say from when it can be resolved")
	}
	for _, resolution := range []string{"CONFIRMED_COMPLETED", "CONFIRMED_NOT_EXECUTED", "ABANDON"} {
		w.approver.Post("/runs/"+id+"/reconcile", reconcile(resolution, nil)).Refused(t, "state_conflict", from)
	}
	close(gate)
	var run json
	harness.Until(t, "the late answer", func() bool {
		run = w.viewer.Get("/runs/" + id).OK(t)
		return run.At("steps.0.late").Exists()
	})
	run.Is(t, "steps.0.late.attempt", 1).Is(t, "waitingFor.notBefore", harness.Absent).Is(t, "waitingFor.kind", "reconcile")
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", nil)).OK(t).Is(t, "status", "CANCELLED")
}

// TestAResolvedStepThatWaitsForASlotShowsNoForm: it has been reconciled.
func TestAResolvedStepThatWaitsForASlotShowsNoForm(t *testing.T) {
	t.Parallel()
	for _, resolution := range []string{"CONFIRMED_COMPLETED", "CONFIRMED_NOT_EXECUTED"} {
		w := newWorld(t, harness.Set("MAX_ACTIVE_RUNS", "1"))
		mara := w.person(t, "mara@example.com", "APPROVER")
		w.shop.On("POST", "/effect", harness.Answering(500, `{}`))
		run := w.run(t, step("effect", "effect", nil), step("after", "note", nil))
		w.reaches(t, run, "RECOVERY_REQUIRED")
		if resolution == "CONFIRMED_NOT_EXECUTED" {
			w.shop.MayRepeat(run + ".effect")
		}
		before := mara.Open("/recovery/" + run)
		mustSay(t, before, 200, "Record it")
		_, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
		w.approver.Post("/runs/"+run+"/reconcile", reconcile(resolution, doc{"id": "r-1"})).OK(t).Is(t, "waitingFor.kind", "slot")
		page := mara.Open("/recovery/" + run)
		mustSay(t, page, 200, "Recorded", "The run continues when a slot is free.")
		mustNotHold(t, page, "/reconcile", "/probe", `type="radio"`)
		w.approver.Post("/runs/"+run+"/reconcile", reconcile("ABANDON", nil)).Refused(t, "state_conflict")
		close(gate)
	}
}

// TestATenantLeavesABoundedNumberOfCallsToThemselves: a cancel releases the slot while the call goes on, so alternating starts and cancels must
// not open connections without a bound. A cancel is never refused.
func TestATenantLeavesABoundedNumberOfCallsToThemselves(t *testing.T) {
	t.Parallel()
	const bound = 64
	w := newWorld(t)
	w.register(t, "default-slow", harness.With(harness.Project(w.shop.Origin()), "capabilities",
		[]any{harness.Capability("slow", "POST", "/slow", doc{"approval": "NONE", "timeoutMs": 60000})}))
	gate := make(chan struct{})
	w.shop.On("POST", "/slow", harness.After(gate, harness.Answering(200, `{"id":"n"}`)))
	plan := w.ready(t, planOf(harness.With(step("n", "slow", nil), "projectId", "default-slow")))
	start := func() *harness.Answer { return w.operator.Post("/runs", doc{"planId": plan}, key()) }
	begin := func(calls int) string {
		id := start().OK(t).At("id").Text()
		w.shop.Await(t, "POST", "/slow", calls)
		return id
	}
	last := begin(1)
	for n := range bound {
		w.cancel(t, begin(n+2)).Is(t, "status", "RECOVERY_REQUIRED")
	}
	start().Refused(t, "capacity", "64 calls")
	w.cancel(t, last).Is(t, "status", "RECOVERY_REQUIRED")
	close(gate)
	harness.Until(t, "a slot, since the calls have ended", func() bool { return start().Status == 202 })
}
