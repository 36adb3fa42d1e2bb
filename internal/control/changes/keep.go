package changes

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// keep writes a decision, and where the change stands by it.
func (s *DecisionService) keep(tx store.Tx, a core.Actor, was *records.Change, version int64, g given) (countersign.ProposedChange, error) {
	r := *was
	r.Decisions = append(slices.Clone(was.Decisions), g.decided)
	r.Deciders = append(slices.Clone(was.Deciders), g.by)
	if g.status == countersign.ChangeApproved {
		r.ExpiresAt = g.decided.At.Add(countersign.ChangeLife)
	}
	if err := s.move(tx, a.Tenant, &r, version, g.status, g.decided.At); err != nil {
		return countersign.ProposedChange{}, err
	}
	rec := s.Record(a, access.DecideChange, "change/"+r.ID)
	rec.Before, rec.After, rec.Reason, rec.Digest, rec.Assertion = string(was.Status), string(r.Status), g.decided.Reason, r.Digest, g.decided.Assertion
	if g.decided.Decision == countersign.ApprovalApproved && r.Status == countersign.ChangeProposed {
		rec.After = string(g.decided.Decision) + ", " + rec.After
	}
	return r.ProposedChange, core.AppendAudit(tx, a.Tenant, rec)
}
