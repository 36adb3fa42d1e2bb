package runrepo

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// decide adds a decision. One rejection decides; an approval is APPROVED once enough have
// approved who count at this moment. A decided approval stays as it is.
func (a *loadedApproval) decide(tx store.Tx, tenant string, d run.Decided, by records.Decider, m records.Moment) error {
	r := a.record
	if r == nil || r.Status != countersign.ApprovalPending {
		return nil
	}
	asked, err := Makers(tx, tenant, r.Requester) // who is known to be behind it by now
	if err != nil {
		return err
	}
	shared := by.ID != "" && access.SharedMaker(asked, by.Requester)
	for _, other := range r.Deciders {
		shared = shared || by.ID != "" && access.SharedMaker(other.Requester, by.Requester)
	}
	r.Decisions = append(slices.Clone(r.Decisions), countersign.GivenDecision{
		Decision: d.Decision, By: d.By, ByMakers: by.Makers, Reason: d.Reason, At: m.Now, StateDigest: r.StateDigest, OnBehalfOf: by.OnBehalfOf, Assertion: d.Assertion,
	})
	r.ApprovalsNeeded = int64(r.Needed()) // an earlier release asked without saying so
	r.Deciders = append(slices.Clone(r.Deciders), by)
	r.DecisionReason, r.DecidedBy, r.DecidedAt, r.DecidedByMakers, r.SharedMaker = d.Reason, d.By, m.Now, by.Makers, r.SharedMaker || shared
	r.SuggestedInput = d.Suggested
	if err := countDecisions(tx, tenant, r, len(r.Decisions)-1, m); err != nil {
		return err
	}
	switch {
	case d.Decision == countersign.ApprovalRejected:
		r.Status = countersign.ApprovalRejected
	case d.Decision == countersign.ApprovalApproved && Enough(r):
		r.Status = countersign.ApprovalApproved
	}
	a.changed = true
	return nil
}

// CountDecisions marks the decisions of an undecided approval that no longer count, since
// who gave them could not give them at this moment: they were removed, have lost the role, the
// project or the groups, or their token has ended.
func (l *Repository) CountDecisions(tx store.Tx, tenant string, r *records.Approval) error {
	return countDecisions(tx, tenant, r, len(r.Decisions), records.Moment{Now: l.cfg.Now(), Eyes: l.cfg.Eyes})
}

// countDecisions is CountDecisions for the first so many. That those after them may be given was
// found in this transaction.
func countDecisions(tx store.Tx, tenant string, r *records.Approval, earlier int, m records.Moment) error {
	if r.Status != countersign.ApprovalPending {
		return nil
	}
	r.Decisions = slices.Clone(r.Decisions)
	var kept []records.Decider
	for i := len(r.Decisions) - 1; i >= 0; i-- { // the last first: it was given beside those that counted then
		d := &r.Decisions[i]
		if d.By == countersign.SystemPrincipal {
			continue
		}
		by := deciderOf(r, i)
		now, counts, err := records.EligibilityThen(tx, tenant, r, by, d.At, m, i >= earlier)
		if err != nil {
			return err
		}
		counts = counts && !slices.ContainsFunc(kept, func(later records.Decider) bool { return barred(m.Eyes, later, by) })
		if counts {
			kept = append(kept, by)
		}
		d.Groups, d.Escalated, d.Left = now.Groups, now.Escalated, !counts || d.StateDigest != r.StateDigest
	}
	return nil
}

// barred reports an earlier decision that can't count beside a later one, since one person may
// be both: it did not count when the later one was given.
func barred(eyes access.Eyes, later, earlier records.Decider) bool {
	return access.SameDecider(later.Requester, earlier.Requester) || slices.Contains(earlier.OnBehalfOf, later.Person) ||
		slices.Contains(later.OnBehalfOf, earlier.Person) || eyes.MayJoin(later.Requester, earlier.Requester) != nil
}

// Enough reports that the decisions of an approval that count suffice.
func Enough(r *records.Approval) bool { return gate.Enough(r.Needed(), r.Groups, counted(r)) }

func deciderOf(r *records.Approval, i int) records.Decider {
	if i < len(r.Deciders) {
		return r.Deciders[i]
	}
	return records.Decider{Requester: access.Requester{ID: r.Decisions[i].By}} // an earlier release kept no more
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
