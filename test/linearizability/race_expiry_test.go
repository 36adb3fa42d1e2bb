package linearizability

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// dueTogether is how many approvals expire in one round: the engine checks the clock twice a second, and handles all of them
// in one check.
const dueTogether = 25

// TestADecisionAgainstItsExpiryIsOne: while the clock passes expiresAt, a decision counts or comes too late, and its answer
// stays true.
func TestADecisionAgainstItsExpiryIsOne(t *testing.T) {
	race(t, wide, dueTogether, func(h *fixture, _ int) {
		runs := h.several(dueTogether, func() (countersign.Run, error) { return h.undecided(refund) })
		due := h.clock.Load() + int64(2*ttl)
		late := make([]bool, dueTogether) // sent when the approval was already due
		errs := all(dueTogether+1, func(i int) error {
			if i == dueTogether {
				h.clock.Store(due)
				return nil
			}
			late[i] = h.clock.Load() == due
			return h.decide(i, runs[i].ApprovalID, contrary(i))
		})
		for i, r := range runs {
			if late[i] && errs[i] == nil {
				h.t.Errorf("approval %s was decided behind its expiry", r.ApprovalID)
			}
			h.wantDecidedOrExpired(r, i, errs[i])
		}
	})
}

func (f *fixture) wantDecidedOrExpired(r countersign.Run, i int, told error) {
	f.t.Helper()
	is, err := f.await(r.ID, func(is *countersign.Run) bool {
		asksAgain := is.Status == countersign.RunWaitingApproval && is.WaitingFor.Kind == countersign.WaitApproval && is.ApprovalID != r.ApprovalID
		return ended(is) || asksAgain
	})
	f.must(err)
	switch {
	case told == nil && contrary(i) == countersign.ApprovalRejected:
		f.wantDecided(r.ApprovalID, countersign.ApprovalRejected, reviewer(i).ID)
		f.wantRun(is, countersign.RunFailed, countersign.StepFailed)
	case told == nil:
		f.wantDecided(r.ApprovalID, countersign.ApprovalApproved, reviewer(i).ID)
		f.wantSentOrAskedAgain(is, r.ApprovalID)
	case oneOf(told, countersign.CodeApprovalExpired):
		a := f.wantDecided(r.ApprovalID, countersign.ApprovalRejected, countersign.SystemPrincipal)
		if !strings.HasPrefix(a.DecisionReason, string(countersign.CodeApprovalExpired)) {
			f.t.Errorf("the system says %q", a.DecisionReason)
		}
		f.wantRun(is, countersign.RunFailed, countersign.StepFailed)
		f.wantNeverSent(is)
	default:
		f.t.Errorf("the decision was answered %v", told)
	}
}

// wantSentOrAskedAgain: a request that was approved in time, but whose approval expired before it was sent, asks for another
// approval.
func (f *fixture) wantSentOrAskedAgain(is countersign.Run, first string) {
	f.t.Helper()
	if is.ApprovalID == first {
		f.wantRun(is, countersign.RunCompleted, countersign.StepCompleted)
		f.wantSentOnce(is)
		return
	}
	f.wantNeverSent(is)
	f.must(f.decide(0, is.ApprovalID, countersign.ApprovalRejected))
	f.wantRun(f.mustReach(is.ID, countersign.RunFailed), countersign.RunFailed, countersign.StepFailed)
}
