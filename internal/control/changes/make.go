package changes

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// MakeChange makes what answers a secret, once it is approved: its proposer does, once, and nobody
// else is shown it. The answer is that of the operation.
func (s *MakeService) MakeChange(ctx context.Context, a core.Actor, id string) (answer any, err error) {
	if err := access.Allow(a.Principal, access.MakeChange); err != nil {
		return nil, s.Refuse(ctx, a, access.MakeChange, "change/"+id, err)
	}
	var seen *records.Change
	err = s.Read(ctx, func(tx store.Tx) error {
		_, rec, _, err := s.own(tx, a, id)
		if err == nil {
			err = s.makeable(rec)
		}
		seen = rec
		return err
	})
	if err != nil {
		return nil, s.Refuse(ctx, a, access.MakeChange, "change/"+id, err)
	}
	maker := a
	maker.Making = &core.Making{Operation: access.Operation(seen.Operation), Stood: seen.Stood, Within: func(tx store.Tx, change func() error) error {
		if err := s.Stands(tx, a); err != nil {
			return ofDecision{err}
		}
		tenant, was, version, err := s.own(tx, a, id)
		if err == nil {
			err = s.makeable(was)
		}
		if err != nil {
			return ofDecision{err}
		}
		if err := change(); err != nil {
			return err
		}
		r := *was
		if err := s.move(tx, tenant, &r, version, countersign.ChangeMade, s.Config.Now()); err != nil {
			return err
		}
		return s.AuditIn(tx, tenant, a, access.MakeChange, "change/"+id, core.Change{Before: string(was.Status), After: string(r.Status)})
	}}
	answer, err = s.makers[access.Operation(seen.Operation)](ctx, maker, seen.RequestID, []byte(seen.Body.Raw()))
	if err != nil {
		return nil, s.hindered(ctx, a, access.MakeChange, id, seen, core.Public(err))
	}
	return answer, nil
}

// own reads a change that the actor proposed.
func (s *MakeService) own(tx store.Tx, a core.Actor, id string) (tenant string, r *records.Change, version int64, err error) {
	tenant, r, version, err = s.find(tx, a, id)
	if err == nil && !proposedBy(a, r) {
		err = countersign.Errorf(countersign.CodeRoleRequired, "only its proposer, %s, makes or withdraws change %s", r.ProposedBy, id)
	}
	return tenant, r, version, err
}

func (s *MakeService) makeable(r *records.Change) error {
	switch {
	case s.lapsed(r):
		return countersign.Errorf(countersign.CodeStateConflict, "change %s has lapsed: %s", r.ID, inTime(r))
	case access.GuardOf(access.Operation(r.Operation)) != access.ProposedSecret:
		return countersign.Errorf(countersign.CodeStateConflict, "change %s answers no secret: its last approval makes it", r.ID)
	case r.Status != countersign.ChangeApproved:
		return countersign.Errorf(countersign.CodeStateConflict, "change %s is %s; it is made once, when it is APPROVED", r.ID, r.Status)
	}
	return nil
}

// WithdrawChange takes back a change that its proposer wants no more.
func (s *MakeService) WithdrawChange(ctx context.Context, a core.Actor, id string, w countersign.ChangeWithdrawal) (out countersign.ProposedChange, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	err = s.Update(ctx, a, access.WithdrawChange, "change/"+id, func(tx store.Tx) error {
		tenant, was, version, err := s.own(tx, a, id)
		if err != nil {
			return err
		}
		if s.lapsed(was) || !was.Status.Open() {
			return countersign.Errorf(countersign.CodeStateConflict, "change %s is %s already", id, s.shown(was).Status)
		}
		r := *was
		r.EndedReason = w.Reason
		if err := s.move(tx, tenant, &r, version, countersign.ChangeWithdrawn, s.Config.Now()); err != nil {
			return err
		}
		out = r.ProposedChange
		return s.AuditIn(tx, tenant, a, access.WithdrawChange, "change/"+id, core.Change{Before: string(was.Status), After: string(r.Status), Reason: w.Reason})
	})
	return out, err
}
