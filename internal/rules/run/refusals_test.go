package run_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// TestARefusedEventSaysWhatWouldBeRight reads each message.
func TestARefusedEventSaysWhatWouldBeRight(t *testing.T) {
	asked := func() *world { return waiting(t) }
	inspecting := func() *world {
		w := newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "inspect", Capability: "inspect", Input: values(t, `{"resourceId":"o-1"}`)}))
		return w.play(run.Resumed{})
	}
	pastExpiry := func() *world { w := waiting(t); w.now = w.now.Add(ttl); return w }
	stuck := func() *world {
		w := waiting(t).play(decide(countersign.ApprovalApproved), run.SlotGranted{}, run.Resumed{})
		return w.play(w.returned(unknown("no answer")))
	}
	probed := func() *world {
		w := stuck()
		w.step("refund").Probes = make([]countersign.ProbeRecord, countersign.MaxProbes)
		return w
	}
	cancelled := func() *world { return cancelledUnderWay(t) }
	ended := func() *world {
		w := waiting(t)
		w.now = w.now.Add(ttl)
		return w.play(run.Expired{})
	}
	suggesting := func(d countersign.ApprovalStatus, input string) run.Decided {
		return run.Decided{Decision: d, Reason: "less", By: "user:ben@example.com", Suggested: values(t, input)}
	}
	unfounded := reconcile(countersign.Abandon)
	unfounded.Evidence = " "
	for _, test := range []struct {
		world func() *world
		event run.Event
		want  string
	}{
		{stuck, decide(countersign.ApprovalApproved), "state_conflict: run run-1 is RECOVERY_REQUIRED; it waits for no decision"},
		{asked, run.Decided{Decision: countersign.ApprovalApproved, Reason: " ", By: "user:ben@example.com"}, "invalid_request: reason: say why; it can't be blank"},
		{pastExpiry, decide(countersign.ApprovalApproved), "approval_expired: approval apr-1 expired at 2026-03-02T09:00:00Z"},
		{asked, decide("MAYBE"), `invalid_request: decision: it must be APPROVED or REJECTED, not "MAYBE"`},
		{asked, suggesting(countersign.ApprovalApproved, `{}`), "invalid_request: suggestedInput: it belongs to a REJECTED decision; what is approved is sent as it is"},
		{inspecting, suggesting(countersign.ApprovalRejected, `{}`), "invalid_request: suggestedInput.resourceId: is required by inspect"},
		{ended, cancel(), "state_conflict: run run-1 is FAILED; a run that has ended can't be cancelled"},
		{stuck, cancel(), "state_conflict: run run-1 is RECOVERY_REQUIRED; say first what became of the uncertain step: reconcile it"},
		{asked, reconcile(countersign.Abandon), "state_conflict: run run-1 is WAITING_APPROVAL; only an uncertain outcome is reconciled"},
		{stuck, unfounded, "invalid_request: evidence: say what shows it; it can't be blank"},
		{stuck, reconcile("MAYBE"), `invalid_request: resolution: it must be CONFIRMED_COMPLETED, CONFIRMED_NOT_EXECUTED or ABANDON, not "MAYBE"`},
		{cancelled, reconcile(countersign.Abandon), "state_conflict: run run-1 is RECOVERY_REQUIRED; the answer to step pay may still come; say from 2026-03-01T09:00:15Z on what became of it"},
		{asked, run.Probing{}, "state_conflict: run run-1 is WAITING_APPROVAL; only an uncertain step is probed"},
		{probed, run.Probing{}, "quota_exceeded: probes: run run-1 has 1000, as many as a run may have; say what they showed"},
	} {
		if _, err := test.world().apply(test.event); err == nil || err.Error() != test.want {
			t.Errorf("%s\n got %v\nwant %s", dumped(test.event), err, test.want)
		}
	}
}

// TestASuggestionForACapabilityThatIsGoneIsRefused: the plan keeps the project as it was, so
// only a plan of another release lacks the capability.
func TestASuggestionForACapabilityThatIsGoneIsRefused(t *testing.T) {
	const gone = "invalid_request: suggestedInput: the plan's project has no such capability; leave it out"
	w := waiting(t)
	w.plan.ProjectSnapshots[0].Capabilities = nil
	_, err := w.apply(run.Decided{Decision: countersign.ApprovalRejected, Reason: "less", By: "user:ben@example.com", Suggested: values(t, `{}`)})
	if err == nil || err.Error() != gone {
		t.Errorf("\n got %v\nwant %s", err, gone)
	}
}
