package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestOfContraryDecisionsOneCounts: of 32 concurrent decisions one counts, and the run's result follows from it.
func TestOfContraryDecisionsOneCounts(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		r, err := h.undecided(refund)
		h.must(err)
		errs := all(32, func(i int) error { return h.decide(i, r.ApprovalID, contrary(i)) })
		winner := h.wantOneWinner(errs, countersign.CodeStateConflict)
		h.wantDecided(r.ApprovalID, contrary(winner), reviewer(winner).ID)
		r, err = h.await(r.ID, ended)
		h.must(err)
		if contrary(winner) == countersign.ApprovalApproved {
			h.wantRun(r, countersign.RunCompleted, countersign.StepCompleted)
			h.wantSentOnce(r)
		} else {
			h.wantRun(r, countersign.RunFailed, countersign.StepFailed)
			h.wantNeverSent(r)
		}
	})
}

// TestADecisionAgainstACancelIsOne: the first of the two decides the approval; if that is the cancel, nothing is sent.
func TestADecisionAgainstACancelIsOne(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		r, err := h.undecided(transfer)
		h.must(err)
		errs := all(2, func(i int) error {
			if i == 0 {
				return h.decide(0, r.ApprovalID, countersign.ApprovalApproved)
			}
			_, err := h.control.CancelRun(background(), ann, r.ID, "not wanted")
			return err
		})
		h.must(errs[1]) // a run can be canceled while it waits, has a slot or has a call in flight
		switch is := h.finish(r.ID); {
		case errs[0] == nil:
			h.wantDecided(r.ApprovalID, countersign.ApprovalApproved, reviewer(0).ID)
			if !isOneOf(is, countersign.RunCancelled, countersign.RunRecoveryRequired) {
				h.t.Errorf("run %s is %s", is.ID, picture(&is))
			}
		case oneOf(errs[0], countersign.CodeStateConflict):
			h.wantDecided(r.ApprovalID, countersign.ApprovalRejected, countersign.SystemPrincipal)
			h.wantRun(is, countersign.RunCancelled, countersign.StepCancelled)
			h.wantNeverSent(is)
		default:
			h.t.Errorf("the decision was answered %v", errs[0])
		}
	})
}

func isOneOf(r countersign.Run, statuses ...countersign.RunStatus) bool { return is(&r, statuses...) }

func contrary(i int) countersign.ApprovalStatus {
	return []countersign.ApprovalStatus{countersign.ApprovalApproved, countersign.ApprovalRejected}[i%2]
}

func (f *fixture) decide(who int, approvalID string, is countersign.ApprovalStatus) error {
	_, err := f.control.Decide(background(), reviewer(who), approvalID, countersign.Decision{Decision: is, Reason: "so decided"})
	return err
}

func (f *fixture) wantDecided(approvalID string, is countersign.ApprovalStatus, by string) countersign.Approval {
	f.t.Helper()
	a, err := f.control.Approval(background(), ann, approvalID)
	f.must(err)
	if a.Status != is || a.DecidedBy != by {
		f.t.Errorf("approval %s is %s by %s, want %s by %s", approvalID, a.Status, a.DecidedBy, is, by)
	}
	return a
}

func (f *fixture) wantNeverSent(r countersign.Run) {
	f.t.Helper()
	if n := len(f.receiver.deliveries(call(&r))); n > 0 || f.seq("run/"+r.ID, "step.send", r.Steps[0].ID) >= 0 {
		f.t.Errorf("run %s was delivered %d times: %s", r.ID, n, picture(&r))
	}
}
