package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func (w *world) cancel(t *testing.T, id string) json {
	t.Helper()
	return w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "changed my mind"}).OK(t)
}

// inFlight starts a run of one step and waits until its request has arrived; the receiver answers when the gate is closed.
func (w *world) inFlight(t *testing.T, method, path string, s doc, answer harness.Reply) (id string, gate chan struct{}) {
	t.Helper()
	gate = make(chan struct{})
	w.shop.On(method, path, harness.After(gate, answer))
	seen := len(w.shop.Seen(method, path))
	id = w.run(t, s, step("after", "note", nil))
	w.shop.Await(t, method, path, seen+1)
	return id, gate
}

func TestCancellingARunThatWaitsForApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(t, step("r", "refund", doc{"orderId": "o"}), step("n", "note", nil))
	approval := w.approval(t, id).At("id").Text()
	run := w.cancel(t, id).Is(t, "status", "CANCELLED").Has(t, "error", "cancelled: ", "changed my mind").Is(t, "waitingFor", harness.Absent)
	run.Is(t, "steps.0.status", "CANCELLED").Is(t, "steps.1.status", "CANCELLED")
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "status", "REJECTED").Is(t, "decidedBy", "system").Has(t, "decisionReason", "cancelled")
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "r"}).Refused(t, "state_conflict")
	w.cancel(t, id).Is(t, "revision", run.At("revision")) // nothing changes
}

func TestCancellingARunWithAReadInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, gate := w.inFlight(t, "GET", "/patient", step("p", "patient", nil), harness.Answering(200, `{}`))
	defer close(gate)
	w.cancel(t, id).Is(t, "status", "CANCELLED").Is(t, "steps.0.status", "CANCELLED").Is(t, "steps.1.status", "CANCELLED")
}

func TestCancellingARunWithASideEffectInFlightNeedsReconciling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ resolution, step, code string }{
		{"CONFIRMED_COMPLETED", "COMPLETED", "cancelled: "}, {"CONFIRMED_NOT_EXECUTED", "CANCELLED", "cancelled: "}, {"ABANDON", "ABANDONED", "abandoned: "},
	} {
		id, gate := w.inFlight(t, "POST", "/notes", step("n", "note", nil), harness.Answering(200, `{"id":"late"}`))
		w.cancel(t, id).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "cancelRequested", true).Is(t, "steps.0.status", "RECOVERY_REQUIRED").Is(t, "waitingFor.kind", "reconcile")
		w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "r"}).Refused(t, "state_conflict")
		close(gate)
		var run json
		harness.Until(t, "the late answer", func() bool {
			run = w.viewer.Get("/runs/" + id).OK(t)
			return run.At("steps.0.late").Exists()
		})
		run.Is(t, "steps.0.late.response.statusCode", 200).Is(t, "steps.0.late.output", doc{"id": "late"}).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.status", "RECOVERY_REQUIRED")
		w.approver.Post("/runs/"+id+"/reconcile", reconcile(c.resolution, nil)).OK(t).Is(t, "status", "CANCELLED").Has(t, "error", c.code).
			Is(t, "steps.0.status", c.step).Is(t, "steps.1.status", "CANCELLED")
	}
}

func TestCancellingAnEndedOrUncertainRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	done := w.run(t, step("n", "note", nil))
	w.reaches(t, done, "COMPLETED")
	w.shop.On("POST", "/notes", harness.Answering(400, `{}`))
	failed := w.run(t, step("n", "note", nil))
	w.reaches(t, failed, "FAILED")
	uncertain := w.uncertain(t).At("id").Text()
	for _, id := range []string{done, failed, uncertain} {
		w.operator.Post("/runs/"+id+"/cancel", doc{"reason": "r"}).Refused(t, "state_conflict", id)
	}
	for _, blank := range []doc{{}, {"reason": ""}, {"reason": "\t "}} {
		w.operator.Post("/runs/"+done+"/cancel", blank).Refused(t, "invalid_request", "reason")
	}
	w.operator.Post("/runs/none/cancel", doc{"reason": "r"}).Refused(t, "not_found")
}

func TestCancellingARunThatHasJustStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("GET", "/patient", harness.Hanging())
	plan := w.ready(t, planOf(step("p", "patient", nil), step("n", "note", nil)))
	for range 8 { // READY or just taken
		run := w.cancel(t, w.start(t, plan))
		run.Is(t, "status", "CANCELLED").Is(t, "cancelRequested", true).Is(t, "steps.1.status", "CANCELLED")
	}
	if n := len(w.shop.Seen("POST", "/notes")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestACancelledRunIsToldInWords, and the approval that the system rejected with it: in the console and on the
// command line, not as a code.
func TestACancelledRunIsToldInWords(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	id := s.run(t, step("r", "refund", doc{"orderId": "o"}))
	approval := s.approval(t, id).At("id").Text()
	by := "the run was cancelled by " + s.cancel(t, id).At("requestedBy").Text() + ": changed my mind"
	for _, args := range [][]string{{"runs", "show", id}, {"runs", "list"}, {"approvals", "show", approval}, {"approvals", "list"}} {
		if out := s.command(t, 0, args...).Out; !strings.Contains(out, by) || strings.Contains(out, "cancelled: ") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	if out := s.command(t, 1, "runs", "watch", id).Out; !strings.Contains(out, by) {
		t.Errorf("watch:\n%s", out)
	}
	ada := s.person(t, "ada@example.com", "VIEWER")
	for _, path := range []string{"/approvals/" + approval, "/runs/" + id + "?step=r"} {
		if page := ada.Open(path).Text; !strings.Contains(page, strings.Replace(by, "token:", "token ", 1)) || strings.Contains(page, "cancelled: ") {
			t.Errorf("%s:\n%s", path, page)
		}
	}
}
