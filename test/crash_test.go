package test

import (
	"net/url"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestASideEffectInFlightAtACrashIsUncertainAndNeverSentAgain(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", doc{"text": "x"}), harness.Answering(200, `{}`))
	defer close(gate)
	w.Kill()
	w.Restart()
	run := w.reaches(t, id, "RECOVERY_REQUIRED").Is(t, "steps.0.status", "RECOVERY_REQUIRED").Is(t, "steps.0.attempt", 1).Is(t, "steps.1.status", "PENDING")
	run.Is(t, "waitingFor.kind", "reconcile").Is(t, "steps.0.error.code", "outcome_unknown")
	w.Kill()
	w.Restart() // a second recovery changes nothing
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "revision", run.At("revision")).Is(t, "status", "RECOVERY_REQUIRED")
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("it was delivered %d times", n)
	}
	w.approver.Post("/runs/"+id+"/reconcile", reconcile("ABANDON", nil)).OK(t).Is(t, "status", "CANCELLED")
}

func TestAReadInFlightAtACrashIsExecutedAgain(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	w.Kill()
	close(gate)
	w.Restart()
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.status", "COMPLETED").Is(t, "steps.0.attempt", 2)
	for _, q := range w.shop.Seen("GET", "/patient") {
		if got := q.Header.Get("Idempotency-Key"); got != id+".p" {
			t.Errorf("the key is %s", got)
		}
	}
}

func TestAnApprovedReadInFlightAtACrashAsksAnew(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	gate := make(chan struct{})
	w.shop.On("GET", "/guarded", harness.After(gate, harness.Answering(200, `{}`)))
	id := w.run(t, step("g", "guarded", nil))
	first := w.approval(t, id).At("id").Text()
	w.approve(t, id)
	w.shop.Await(t, "GET", "/guarded", 1)
	w.Kill()
	close(gate)
	w.Restart()
	if second := w.approval(t, id).At("id").Text(); second == first {
		t.Error("the old approval lets a second request out")
	}
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
}

func TestAWaitingRunKeepsItsApprovalOverACrash(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := w.approval(t, id)
	before := w.viewer.Get("/runs/" + id).OK(t)
	w.Kill()
	w.Restart()
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "revision", before.At("revision")).Is(t, "waitingFor", before.At("waitingFor"))
	w.viewer.Get("/approvals/"+approval.At("id").Text()).OK(t).Is(t, "expiresAt", approval.At("expiresAt")).Is(t, "status", "PENDING")
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
}

func TestARunBetweenStepsGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{"v":1}`))
	w.Kill()
	close(gate)
	w.Restart()
	w.reaches(t, id, "COMPLETED").Is(t, "steps.1.status", "COMPLETED")
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("the side effect was delivered %d times", n)
	}
}

func TestWhatWasAcknowledgedIsThereAfterACrash(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	plan := w.ready(t, planOf(step("n", "note", nil)))
	run := w.start(t, plan)
	w.reaches(t, run, "COMPLETED")
	w.operator.Put("/models/late", doc{"document": harness.Model("late")}).OK(t)
	w.Kill()
	w.Restart()
	w.viewer.Get("/models/late").OK(t).Is(t, "revision", 1)
	w.viewer.Get("/plans/"+plan).OK(t).Is(t, "status", "READY")
	w.viewer.Get("/projects/"+shop).OK(t).Is(t, "enabled", true).Is(t, "health.healthy", true)
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "COMPLETED")
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}

func TestSIGTERMLetsACallInFlightFinishAndKeepsItsOutcome(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", nil), harness.Answering(200, `{"id":"n-1"}`))
	w.Terminate()
	if w.Shared() { // the others take requests
		harness.Until(t, "the server to stop taking requests", func() bool { return w.Refuses() })
	} else {
		harness.Until(t, "the server to stop taking work", func() bool {
			return w.operator.Post("/projects/"+shop+"/runs", doc{"capability": "note", "mode": "DRY_RUN", "inputs": doc{}}, key()).Status == 503
		})
		if a := w.operator.Post("/plans", planOf(step("n", "note", nil))); a.Refused(t, "unavailable", "stopping") == "" || a.Header.Get("Retry-After") == "" {
			t.Errorf("a stopping service answers %s", a)
		}
		if p := w.NewBrowser().Submit("/sign-in", url.Values{"email": {"nobody@example.com"}}); p.Status != 503 {
			t.Errorf("a stopping console answers %d", p.Status)
		}
		w.viewer.Get("/runs/"+id).OK(t).Is(t, "status", "RUNNING")
	}
	if w.Ended() {
		t.Error("the server did not wait for the call")
	}
	close(gate)
	if status := w.Wait(); status != 0 {
		t.Errorf("the server exited with %d", status)
	}
	w.Restart()
	w.reaches(t, id, "COMPLETED").Is(t, "steps.0.output", doc{"id": "n-1"}).Is(t, "steps.0.attempt", 1).Is(t, "steps.1.status", "COMPLETED")
	if n := len(w.shop.Seen("POST", "/notes")); n != 2 { // the step and the one after it
		t.Errorf("%d requests were sent", n)
	}
}

func TestAStopThatHasNoTimeLeavesTheSideEffectUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("STOP_GRACE", "200ms"))
	id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", nil), harness.Answering(200, `{}`))
	defer close(gate)
	w.Stop()
	w.Restart()
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.attempt", 1).
		Has(t, "steps.0.error.message", "stopped") // and the call did not end by its own timeout
}
