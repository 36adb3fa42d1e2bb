package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// cancelledUnderWay is a run that was cancelled while its side effect was on its way.
func cancelledUnderWay(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)}))
	return w.play(run.Resumed{}, cancel())
}

var resolutions = []run.Reconciled{
	reconcile(countersign.ConfirmedCompleted), reconcile(countersign.ConfirmedNotExecuted), reconcile(countersign.Abandon),
}

// TestReconcileWaitsForTheCall: an answer may still come until the call's time limit
// is over, with 5 s to spare.
func TestReconcileWaitsForTheCall(t *testing.T) {
	over := dawn.Add(10*time.Second + 5*time.Second)
	for _, r := range resolutions {
		w := cancelledUnderWay(t)
		if got := w.run.WaitingFor.NotBefore; !got.Equal(over) {
			t.Fatalf("notBefore is %s, want %s", got, over)
		}
		for _, now := range []time.Time{dawn, over.Add(-time.Nanosecond)} {
			w.now = now
			_, err := w.apply(r)
			if countersign.ErrorCode(err) != countersign.CodeStateConflict || !strings.Contains(err.Error(), over.Format(time.RFC3339)) {
				t.Errorf("%s at %s: %v", r.Resolution, now, err)
			}
		}
		w.now = over
		w.must(r)
	}
}

// TestReconcileNeedNotWaitForACallThatHasEnded, by an answer, without one, or with the
// process that made it.
func TestReconcileNeedNotWaitForACallThatHasEnded(t *testing.T) {
	for _, r := range resolutions {
		for name, end := range map[string]func(w *world) run.Event{
			"answered": func(w *world) run.Event { return w.returned(answered(200, verified)) },
			"not sent": func(w *world) run.Event { return w.returned(notSent("no such host")) },
			"unknown":  func(w *world) run.Event { return w.returned(unknown("no answer within 10s")) },
			"died":     func(*world) run.Event { return run.Restarted{} },
		} {
			w := cancelledUnderWay(t)
			w.must(end(w))
			if !w.run.WaitingFor.NotBefore.IsZero() {
				t.Errorf("%s: still waits until %s", name, w.run.WaitingFor.NotBefore)
			}
			w.must(r)
		}
	}
}

// TestAnAnswerAfterTheReconcileIsKept, whatever state the run is in by then: the
// record must not deny what this process saw.
func TestAnAnswerAfterTheReconcileIsKept(t *testing.T) {
	for _, r := range resolutions {
		w := cancelledUnderWay(t)
		w.now = w.run.WaitingFor.NotBefore
		w.must(r)
		was := w.run.Status
		res := w.must(w.returned(answered(200, verified)))
		late := w.step("pay").Late
		if late == nil || late.Output.Raw() != verified || late.Attempt != 1 || w.run.Status != was {
			t.Errorf("after %s: late %s, %s", r.Resolution, dumped(late), w.run.Status)
		}
		if len(res.Notes) != 1 || res.Notes[0].Action != "steps.late" {
			t.Errorf("after %s the audit log says %s", r.Resolution, dumped(res.Notes))
		}
		if again := w.must(w.returned(answered(422, ""))); !again.Unchanged() {
			t.Errorf("one call was answered twice: %s", dumped(w.step("pay").Late))
		}
	}
}

// TestAnAnswerToAnEarlierAttemptIsKept while the next one is on its way.
func TestAnAnswerToAnEarlierAttemptIsKept(t *testing.T) {
	w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)}))
	w.play(run.Resumed{})
	first := w.returned(answered(200, verified))
	w.play(run.Restarted{}, reconcile(countersign.ConfirmedNotExecuted), run.SlotGranted{}, run.Resumed{}, first)
	if s := w.step("pay"); s.Status != countersign.StepRunning || s.Attempt != 2 || s.Late == nil || s.Late.Attempt != 1 {
		t.Errorf("%s, attempt %d, late %s", s.Status, s.Attempt, dumped(s.Late))
	}
	w.play(w.returned(answered(200, verified)))
	if w.run.Status != countersign.RunCompleted {
		t.Errorf("the run is %s", w.run.Status)
	}
}

// TestAnAnswerToAnEarlierAttemptEndsNoWaitForThePresentOne: its call goes on.
func TestAnAnswerToAnEarlierAttemptEndsNoWaitForThePresentOne(t *testing.T) {
	for _, r := range resolutions {
		w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)}))
		w.play(run.Resumed{})
		first := w.returned(answered(200, verified))
		w.play(run.Restarted{}, reconcile(countersign.ConfirmedNotExecuted), run.SlotGranted{}, run.Resumed{}, cancel(), first)
		w.refused(r, countersign.CodeStateConflict)
		w.must(w.returned(answered(200, verified)))
		w.must(r)
	}
}
