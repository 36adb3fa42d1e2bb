package changes

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// The last approval and the change are one commit. The use case of the change judges much of it
// before its turn, so it is the outer one: it runs for the proposer, and the decision is written within its
// transaction. Which decision is the last is known in a turn alone, so both ways ask first, and
// give way to the other.
const (
	errMakes   givesWayError = "changes: it makes the change"
	errDecides givesWayError = "changes: it makes nothing yet"
)

// givesWayError says that a decision is to be kept the other way; nobody is told.
type givesWayError string

func (g givesWayError) Error() string { return string(g) }

// turns is how often a decision gives way, before it is to be sent again.
const turns = 4

// DecideChange approves or rejects a change. Only people decide, whoever they may be for runs.
func (s *DecisionService) DecideChange(ctx context.Context, a core.Actor, id string, d countersign.ChangeDecision) (out countersign.ProposedChange, err error) {
	if err := core.WellFormed(a, d); err != nil {
		return out, err
	}
	if err := core.Given("reason", d.Reason); err != nil {
		return out, err
	}
	for range turns {
		out, err = s.decide(ctx, a, id, d)
		if !errors.Is(err, errMakes) {
			return out, err
		}
		out, err = s.decideAndMake(ctx, a, id, d)
		if !errors.Is(err, errDecides) {
			return out, err
		}
	}
	return out, countersign.Errorf(countersign.CodeUnavailable, "others decide change %s at this moment; nothing was changed, try again", id)
}

// decide keeps a decision that makes nothing.
func (s *DecisionService) decide(ctx context.Context, a core.Actor, id string, d countersign.ChangeDecision) (out countersign.ProposedChange, err error) {
	err = s.Update(ctx, a, access.DecideChange, "change/"+id, func(tx store.Tx) error {
		rec, version, err := s.decidable(tx, a, id)
		if err != nil {
			return err
		}
		g, err := s.given(tx, a, rec, d)
		if err != nil {
			return err
		}
		if g.makes {
			return errMakes
		}
		out, err = s.keep(tx, a, rec, version, g)
		return err
	})
	return out, err
}

// decidable reads a change of the actor's tenant. One that a realm administrator has proposed in another
// is decided there.
func (s *DecisionService) decidable(tx store.Tx, a core.Actor, id string) (*records.Change, int64, error) {
	tenant, rec, version, err := s.find(tx, a, id)
	if err == nil && tenant != a.Tenant {
		err = countersign.Errorf(countersign.CodeRoleRequired, "administrators of tenant %s decide change %s", tenant, id)
	}
	return rec, version, err
}

// ofDecision marks what the decision itself is refused with, among what may stand in the way of the
// change.
type ofDecision struct{ error }

func (o ofDecision) Unwrap() error { return o.error }

// ofProposer says that the proposer has no right to the change any more.
type ofProposer struct{ error }

func (o ofProposer) Unwrap() error { return o.error }

// decideAndMake keeps the last approval, and makes the change in the same transaction.
func (s *DecisionService) decideAndMake(ctx context.Context, a core.Actor, id string, d countersign.ChangeDecision) (out countersign.ProposedChange, err error) {
	seen, proposer, err := s.look(ctx, a, id)
	if err == nil {
		proposer.Making = &core.Making{Operation: access.Operation(seen.Operation), Stood: seen.Stood, Within: func(tx store.Tx, change func() error) error {
			if err := s.Stands(tx, a); err != nil {
				return ofDecision{err}
			}
			rec, version, err := s.decidable(tx, a, id)
			if err != nil {
				return ofDecision{err}
			}
			g, err := s.given(tx, a, rec, d)
			if err == nil && !g.makes {
				err = errDecides
			}
			if err != nil {
				return ofDecision{err}
			}
			now, err := s.proposer(tx, rec)
			if err == nil {
				err = access.Still(proposer.Principal, now.Principal)
			}
			if err != nil {
				return ofProposer{err}
			}
			if err := change(); err != nil {
				return err
			}
			g.status = countersign.ChangeMade
			out, err = s.keep(tx, a, rec, version, g)
			return err
		}}
		_, err = s.makers[access.Operation(seen.Operation)](ctx, proposer, seen.RequestID, []byte(seen.Body.Raw()))
	}
	if err == nil {
		return out, nil
	}
	return countersign.ProposedChange{}, s.hindered(ctx, a, access.DecideChange, id, seen, core.Public(err))
}
