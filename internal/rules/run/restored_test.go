package run_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// restored sets the run back, as AfterRestore does: what it waits for says so too.
func (w *world) restored() *world {
	w.run.RestoredAt = w.now
	if w.run.WaitingFor != nil {
		w.run.WaitingFor.RestoredAt = w.now
	}
	return w
}

// TestARestoredRunThatEndsUnsentMayHaveHappened: the store that was replaced may have sent each of
// its side effects. Of a rehearsal nothing is ever sent.
func TestARestoredRunThatEndsUnsentMayHaveHappened(t *testing.T) {
	pay := countersign.Step{ID: "pay", Capability: "pay", Input: values(t, `{"amount":5}`)}
	look := countersign.Step{ID: "look", Capability: "look", Input: values(t, `{"resourceId":"o-1"}`)}
	for name, test := range map[string]struct {
		is   func() *world
		ends []run.Event
	}{
		"its approval expires":     {func() *world { return waiting(t) }, []run.Event{run.Expired{}}},
		"its approval is rejected": {func() *world { return waiting(t) }, []run.Event{decide(countersign.ApprovalRejected)}},
		"it is cancelled":          {func() *world { return waiting(t) }, []run.Event{cancel()}},
		"nothing left":             {func() *world { return newWorld(t, order(t, countersign.ModeLive, pay)).play(run.Resumed{}) }, nil},
		"a read fails before":      {func() *world { return newWorld(t, order(t, countersign.ModeLive, look, pay)).play(run.Resumed{}) }, nil},
	} {
		w := test.is().restored()
		if test.ends == nil {
			w.must(w.returned(notSent("no such host")))
		}
		for _, e := range test.ends {
			if _, expires := e.(run.Expired); expires {
				w.now = w.now.Add(ttl)
			}
			w.must(e)
		}
		if !w.run.Status.IsTerminal() || !w.run.MayHaveHappened || !w.run.HadEffect() {
			t.Errorf("%s: the run is %s, mayHaveHappened %t", name, w.run.Status, w.run.MayHaveHappened)
		}
		for _, s := range w.run.Steps {
			if s.MayHaveHappened != s.SideEffect {
				t.Errorf("%s: step %s is %s, mayHaveHappened %t", name, s.ID, s.Status, s.MayHaveHappened)
			}
		}
	}
}

// TestARestoredRunThatIsCompletedSaysNoMore.
func TestARestoredRunThatIsCompletedSaysNoMore(t *testing.T) {
	w := waiting(t).play(decide(countersign.ApprovalApproved), run.SlotGranted{}, run.Resumed{})
	w.must(w.returned(unknown("no answer")))
	w.restored().must(reconcile(countersign.ConfirmedCompleted))
	if w.run.Status == countersign.RunRecoveryRequired || w.run.Steps[0].MayHaveHappened && w.run.Steps[0].Status == countersign.StepCompleted {
		t.Errorf("%s: %s", w.run.Status, statuses(w.run))
	}
}
