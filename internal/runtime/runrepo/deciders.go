package runrepo

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// decide adds a decision. One rejection decides; an approval is APPROVED once enough have
// approved who count at this moment. A decided approval stays as it is.
func (a *loadedApproval) decide(tx store.Tx, tenant string, d run.Decided, by records.Decider, now time.Time) error {
	r := a.record
	if r == nil || r.Status != countersign.ApprovalPending {
		return nil
	}
	shared := by.ID != "" && access.SharedMaker(r.Requester, by.Requester)
	for _, other := range r.Deciders {
		shared = shared || by.ID != "" && access.SharedMaker(other.Requester, by.Requester)
	}
	r.Decisions = append(slices.Clone(r.Decisions), countersign.GivenDecision{
		Decision: d.Decision, By: d.By, ByMakers: by.Makers, Reason: d.Reason, At: now, OnBehalfOf: by.OnBehalfOf, Assertion: d.Assertion,
	})
	r.ApprovalsNeeded = int64(r.Needed()) // an earlier release asked without saying so
	r.Deciders = append(slices.Clone(r.Deciders), by)
	r.DecisionReason, r.DecidedBy, r.DecidedAt, r.DecidedByMakers, r.SharedMaker = d.Reason, d.By, now, by.Makers, r.SharedMaker || shared
	r.SuggestedInput = d.Suggested
	if err := CountDecisions(tx, tenant, r); err != nil {
		return err
	}
	switch {
	case d.Decision == countersign.ApprovalRejected:
		r.Status = countersign.ApprovalRejected
	case d.Decision == countersign.ApprovalApproved && gate.Enough(r.Needed(), r.Groups, counted(r)):
		r.Status = countersign.ApprovalApproved
	}
	a.changed = true
	return nil
}

// CountDecisions marks the decisions of an undecided approval that no longer count, since
// who gave them has left its groups.
func CountDecisions(tx store.Tx, tenant string, r *records.Approval) error {
	if r.Status != countersign.ApprovalPending || len(r.Groups) == 0 {
		return nil
	}
	r.Decisions = slices.Clone(r.Decisions)
	for i := range r.Decisions {
		d := &r.Decisions[i]
		now, err := records.EligibilityThen(tx, tenant, r, deciderOf(r, i), d.At)
		if err != nil {
			return err
		}
		d.Groups, d.Escalated = now.Groups, now.Escalated
		d.Left = d.By != countersign.SystemPrincipal && !gate.Counts(r.Groups, gate.Decider{Groups: now.Groups})
	}
	return nil
}

func deciderOf(r *records.Approval, i int) records.Decider {
	if i < len(r.Deciders) {
		return r.Deciders[i]
	}
	return records.Decider{}
}

func counted(r *records.Approval) (out []gate.Decider) {
	for _, d := range r.Decisions {
		if d.Decision == countersign.ApprovalApproved && !d.Left {
			out = append(out, gate.Decider{Groups: d.Groups})
		}
	}
	return out
}

// Waits says of an undecided approval how many approvals count, and for which of its groups
// nobody whose approval counts has decided.
func Waits(r *countersign.Approval) (approved int, open []string) {
	open = slices.Clone(r.Groups)
	for _, d := range r.Decisions {
		if d.Decision == countersign.ApprovalApproved && !d.Left {
			approved++
			open = slices.DeleteFunc(open, func(g string) bool { return slices.Contains(d.Groups, g) })
		}
	}
	return approved, open
}
