package changes

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// look reads a change before it is made, and its proposer.
func (b *book) look(ctx context.Context, a core.Actor, id string) (rec *records.Change, proposer core.Actor, err error) {
	err = b.Read(ctx, func(tx store.Tx) error {
		if _, rec, _, err = b.find(tx, a, id); err != nil {
			return ofDecision{err}
		}
		if proposer, err = b.proposer(tx, rec); err != nil {
			return ofProposer{err}
		}
		return nil
	})
	proposer.RequestID = a.RequestID
	return rec, proposer, err
}

// proposer is who proposed a change, with the rights that they have at this moment.
func (b *book) proposer(tx store.Tx, r *records.Change) (core.Actor, error) {
	a := core.Actor{Principal: access.Principal{ID: r.Proposer.ID, Tenant: r.ProposerTenant}}
	if email, is := userOf(r.Proposer.ID); is {
		u, err := core.UserOf(tx, r.ProposerTenant, email)
		if err != nil {
			return a, err
		}
		a.Principal = core.PrincipalOfUser(u)
		a.Lineage = r.Proposer.Makers
		return a, nil
	}
	p, err := b.Present(tx, a)
	a.Principal = p
	return a, err
}

// hindered answers with what stood in the way of a change. What has moved, and what its proposer may
// not do any more, ends it.
func (b *book) hindered(ctx context.Context, a core.Actor, op access.Operation, id string, seen *records.Change, err error) error {
	var decision ofDecision
	var proposer ofProposer
	code := countersign.ErrorCode(err)
	subject := "change/" + id
	switch {
	case errors.As(err, &decision):
		if errors.Is(err, errDecides) {
			return err
		}
		return b.Refuse(ctx, a, op, subject, decision.error)
	case code == countersign.CodeInternal || code == countersign.CodeUnavailable || code == countersign.CodeCapacity:
		return err
	case code == countersign.CodeRevisionConflict:
		if err := b.lapse(ctx, a, id, "what it changes has moved since it was proposed"); err != nil {
			return err
		}
		err = countersign.Errorf(code, "what change %s is about has moved since it was proposed on revision %d, so it has lapsed; propose it again on what stands now", id, seen.Revision)
	case errors.As(err, &proposer) || slices.Contains([]countersign.Code{countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeUnauthenticated}, code):
		if err := b.lapse(ctx, a, id, "its proposer may not ask for it any more"); err != nil {
			return err
		}
		err = countersign.Errorf(countersign.CodeStateConflict, "%s, who proposed change %s, may not ask for it any more, so it has lapsed", seen.ProposedBy, id)
	case code.Status() != 409:
		err = countersign.Errorf(countersign.CodeStateConflict, "change %s can't be made now (%s); it stays %s", id, messageOf(err), seen.Status)
	}
	return b.Refuse(ctx, a, op, subject, err)
}

func messageOf(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
