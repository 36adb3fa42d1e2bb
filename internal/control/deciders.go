package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// barredDecision returns why the actor may not decide an approval; nil if it may.
func (s *Service) barredDecision(tx store.Tx, a Actor, r *records.Approval) error {
	if err := access.Allow(a.Principal, access.DecideApproval); err != nil {
		return err
	}
	return s.mayDecide(tx, a, r)
}

// mayDecide returns nil if the actor may give the next decision of an approval: beside
// mayJudge, it is a member of a group that the approval names, and nobody who made it, or
// whom it made, has decided before.
func (s *Service) mayDecide(tx store.Tx, a Actor, r *records.Approval) error {
	if err := s.mayJudge(tx, a, aboutApproval(r)); err != nil {
		return err
	}
	in, err := runrepo.GroupsOf(tx, a.Tenant, r.Groups, a.Person)
	if err != nil {
		return err
	}
	if err := access.AsMember(a.Principal, r.Groups, in); err != nil {
		return err
	}
	if r.Status != countersign.ApprovalPending {
		return nil // it isn't decided any more, and who asks is told so
	}
	for _, other := range r.Deciders {
		if access.SameDecider(a.Requester(), other.Requester) {
			return countersign.Errorf(countersign.CodeStateConflict, "you have decided approval %s already; %d different deciders must approve", r.ID, r.Needed())
		}
		if err := s.cfg.Eyes.MayJoin(a.Requester(), other.Requester); err != nil {
			return err
		}
	}
	return nil
}
