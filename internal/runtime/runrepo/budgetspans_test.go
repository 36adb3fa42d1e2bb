package runrepo_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// oneADay stores a plan of one call, of which a budget lets out one a day.
func (h *fixture) oneADay() {
	terms := countersign.Capability{Approval: countersign.ApprovalNone, Budgets: []countersign.Budget{{Count: 1, Window: "24h", Then: countersign.BudgetDeny, Reason: "one a day"}}}
	h.plans["acme"] = h.registerPay("plan-9", terms, map[string]countersign.Value{"amount": countersign.RawValue("7")}, false)
}

// begins starts a run of it, and reports whether its step is sent.
func (h *fixture) begins() (runrepo.Ref, bool) {
	h.t.Helper()
	ref, err := h.startOf("acme", "plan-9")
	if err != nil {
		h.t.Fatalf("%v", err)
	}
	return ref, h.must(ref, run.Resumed{}).Call != nil
}

// sends is begins, and lets the run end.
func (h *fixture) sends() bool {
	h.t.Helper()
	ref, sent := h.begins()
	if sent {
		h.must(ref, h.answer(ref, fine()))
	}
	return sent
}

func notExecuted() run.Reconciled {
	return run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: "x"}, By: bob.ID}
}

// TestABudgetCountsAStepAtItsLastSending: a step that is sent again a day later fills that day,
// and each step counts once.
func TestABudgetCountsAStepAtItsLastSending(t *testing.T) {
	for _, between := range []int{0, 3, 40} { // its entry stands in the record, or in a part
		h := open(t)
		h.oneADay()
		a, sent := h.begins()
		if !sent {
			t.Fatal("the first step isn't sent")
		}
		h.must(a, h.answer(a, lost()))
		for range between {
			h.now = h.now.Add(25 * time.Hour)
			if ref, sent := h.begins(); !sent {
				t.Fatal("a step a day isn't sent")
			} else {
				h.must(ref, h.answer(ref, fine()))
			}
		}
		h.now = h.now.Add(25 * time.Hour)
		h.must(a, notExecuted())
		if h.must(a, run.Resumed{}).Call == nil {
			t.Fatal("the step isn't sent again")
		}
		h.must(a, h.answer(a, fine()))
		for _, after := range []time.Duration{time.Minute, 23 * time.Hour} {
			h.now = h.now.Add(after)
			if _, sent := h.begins(); sent {
				t.Errorf("two were sent within %s of a day", after)
			}
		}
		h.now = h.now.Add(time.Hour)
		if _, sent := h.begins(); !sent {
			t.Error("a day later none is sent")
		}
	}
}

// TestAStepThatIsSentAgainWithinItsWindowCountsOnce.
func TestAStepThatIsSentAgainWithinItsWindowCountsOnce(t *testing.T) {
	h := open(t)
	h.oneADay()
	a, _ := h.begins()
	h.must(a, h.answer(a, lost()))
	h.now = h.now.Add(time.Hour)
	h.must(a, notExecuted())
	if h.must(a, run.Resumed{}).Call == nil {
		t.Error("its own first sending keeps a step from being sent again")
	}
}

// TestOnlyWhatNeverLeftGivesItsPlaceBack: neither a person's word nor a receiver's does.
func TestOnlyWhatNeverLeftGivesItsPlaceBack(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *fixture, a runrepo.Ref)
		free bool
	}{
		"not sent": {func(h *fixture, a runrepo.Ref) { h.must(a, h.answer(a, neverSent())) }, true},
		"refused":  {func(h *fixture, a runrepo.Ref) { h.must(a, h.answer(a, refused())) }, false},
		"confirmed as not executed": {func(h *fixture, a runrepo.Ref) {
			h.must(a, h.answer(a, lost()))
			h.must(a, notExecuted(), run.CancelAsked{Reason: "r", By: bob.ID})
		}, false},
		"confirmed as not executed, and then not sent": {func(h *fixture, a runrepo.Ref) {
			h.must(a, h.answer(a, lost()))
			h.must(a, notExecuted(), run.Resumed{})
			h.must(a, h.answer(a, neverSent()))
		}, false},
	} {
		h := open(t)
		h.oneADay()
		a, _ := h.begins()
		c.end(h, a)
		h.now = h.now.Add(time.Minute)
		if _, sent := h.begins(); sent != c.free {
			t.Errorf("%s: the next one is sent: %v", name, sent)
		}
	}
}

// TestAClockThatWasAheadKeepsNobodyOutForLonger, and frees nothing that was sent before.
func TestAClockThatWasAheadKeepsNobodyOutForLonger(t *testing.T) {
	h := open(t)
	h.oneADay()
	if sent := h.sends(); !sent {
		t.Fatal("the first step isn't sent")
	}
	h.now = dawn.Add(365 * 24 * time.Hour)
	if sent := h.sends(); !sent {
		t.Fatal("a year later none is sent")
	}
	back := dawn.Add(time.Hour)
	for _, c := range []struct {
		after time.Duration
		sent  bool
	}{{0, false}, {22 * time.Hour, false}, {23*time.Hour + 59*time.Minute, false}, {24*time.Hour + time.Second, true}, {24*time.Hour + time.Minute, false}, {49 * time.Hour, true}} {
		h.now = back.Add(c.after)
		if sent := h.sends(); sent != c.sent {
			t.Errorf("%s after the clock was set back one is sent: %v", c.after, sent)
		}
	}
}

// TestWhatLeftAWindowWhileTheClockWasAheadCountsAgain.
func TestWhatLeftAWindowWhileTheClockWasAheadCountsAgain(t *testing.T) {
	h := open(t)
	terms := countersign.Capability{Approval: countersign.ApprovalNone, Budgets: []countersign.Budget{{Count: 11, Window: "24h", Then: countersign.BudgetDeny, Reason: "r"}}}
	h.plans["acme"] = h.registerPay("plan-9", terms, map[string]countersign.Value{"amount": countersign.RawValue("7")}, false)
	for range 10 {
		h.now = h.now.Add(time.Second)
		if ref, sent := h.begins(); !sent {
			t.Fatal("one of ten isn't sent")
		} else {
			h.must(ref, h.answer(ref, fine()))
		}
	}
	is := h.now
	h.now = is.Add(48 * time.Hour)
	if sent := h.sends(); !sent {
		t.Fatal("two days on by the clock none is sent")
	}
	h.now = is.Add(time.Minute)
	if sent := h.sends(); sent {
		t.Error("a twelfth was sent within a day")
	}
}

// TestWhatIsVoidStaysSoWhenAClockWasAhead: a step that was sent again, or never left, counts at no
// earlier place once the entries of before count again.
func TestWhatIsVoidStaysSoWhenAClockWasAhead(t *testing.T) {
	h := open(t)
	terms := countersign.Capability{Approval: countersign.ApprovalNone, Budgets: []countersign.Budget{{Count: 3, Window: "24h", Then: countersign.BudgetDeny, Reason: "r"}}}
	h.plans["acme"] = h.registerPay("plan-9", terms, map[string]countersign.Value{"amount": countersign.RawValue("7")}, false)
	for _, outcome := range []request.Outcome{neverSent(), fine()} {
		ref, sent := h.begins()
		if !sent {
			t.Fatal("one of the first isn't sent")
		}
		h.must(ref, h.answer(ref, outcome))
		h.now = h.now.Add(time.Second)
	}
	is := h.now
	h.now = is.Add(48 * time.Hour)
	if sent := h.sends(); !sent {
		t.Fatal("two days on by the clock none is sent")
	}
	h.now = is.Add(time.Minute) // one that was sent, and one by the clock that was ahead
	if sent := h.sends(); !sent {
		t.Error("the third of a day isn't sent: one that never left counts")
	}
	if sent := h.sends(); sent {
		t.Error("a fourth was sent within a day")
	}
}

// TestTheLatestTurnOfTheClockIsKnown, however often it was set back before: what was sent while
// it was ahead keeps nobody out for longer than its window.
func TestTheLatestTurnOfTheClockIsKnown(t *testing.T) {
	h := open(t)
	h.oneADay()
	for n := range 20 {
		at := h.now
		h.now = at.Add(10 * 24 * time.Hour)
		if sent := h.sends(); !sent {
			t.Fatalf("turn %d: ten days on by the clock none is sent", n)
		}
		h.now = at.Add(time.Hour) // it is set back
		if sent := h.sends(); sent {
			t.Fatalf("turn %d: two were sent within an hour", n)
		}
		h.now = h.now.Add(24*time.Hour + time.Second)
		if sent := h.sends(); !sent {
			t.Fatalf("turn %d: a day after the clock was set back none is sent", n)
		}
		h.now = h.now.Add(25 * time.Hour)
	}
}
