package approvals

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// LookService looks again, for a reviewer, at the state that an approval shows.
type LookService struct {
	*core.Core
	approvals *ApprovalService
	looker    Looker
}

// Looker makes reads for preconditions, whose intents are committed.
type Looker interface {
	Look(ref runrepo.Ref, l *run.Look) (run.Looked, error)
}

// NewLooks returns the use cases.
func NewLooks(c *core.Core, approvals *ApprovalService, l Looker) *LookService {
	return &LookService{Core: c, approvals: approvals, looker: l}
}

// LookAgain reads the state of a pending approval anew. It decides nothing: the approval shows what is so
// now, and what it was decided on before, if that is another state, doesn't count any more. Its intent
// is committed first, and what came of it is kept whatever became of the approval meanwhile.
func (s *LookService) LookAgain(ctx context.Context, a core.Actor, id string) (out countersign.Approval, err error) {
	let, err := s.letOut(ctx, a, id)
	if err != nil {
		return out, err
	}
	ctx = context.WithoutCancel(ctx) // what is read is kept, even if the client has disconnected
	ref := let.Run.Ref
	looked, err := s.looker.Look(ref, let.Look)
	if err != nil {
		return out, core.Public(err)
	}
	var moved runrepo.Moved
	err = s.KeepSent(ctx, func(tx store.Tx) (err error) {
		moved, err = s.Repo.Apply(tx, ref, nil, looked, a.RunActor())
		return err
	})
	if err != nil {
		s.Log.Error("what a look found was not stored", "tenant", ref.Tenant, "run", ref.RunID, "key", let.Look.IdempotencyKey, "error", err)
		return out, core.Public(err)
	}
	s.approvals.runs.Settled(ctx, moved)
	return s.approvals.Approval(ctx, a, id)
}

// letOut commits the intent of a look, by who may decide the approval now.
func (s *LookService) letOut(ctx context.Context, a core.Actor, id string) (moved runrepo.Moved, err error) {
	for {
		err = s.Update(ctx, a, access.LookAgain, "approval/"+id, func(tx store.Tx) error {
			rec, _, err := s.approvals.decidable(tx, a, id)
			if err != nil {
				return err
			}
			moved, err = s.Repo.Apply(tx, runrepo.Ref{Tenant: a.Tenant, RunID: rec.RunID}, nil, run.Looking{By: a.ID}, a.RunActor())
			return err
		})
		var unjudged *run.UnjudgedError
		if !errors.As(err, &unjudged) {
			break
		}
		ref, err := s.refOf(ctx, a, id)
		if err != nil {
			return moved, err
		}
		forget, err := s.Repo.JudgeSteps(ctx, ref, unjudged)
		if err != nil {
			return moved, err
		}
		defer forget()
	}
	if err == nil {
		s.approvals.runs.Settled(ctx, moved)
	}
	return moved, err
}

func (s *LookService) refOf(ctx context.Context, a core.Actor, id string) (ref runrepo.Ref, err error) {
	err = s.View(ctx, a, access.LookAgain, func(tx store.Tx) error {
		rec, err := reach.Approval(tx, a, id)
		if err == nil {
			ref = runrepo.Ref{Tenant: a.Tenant, RunID: rec.RunID}
		}
		return err
	})
	return ref, err
}

// sawThis refuses a decision by somebody who has seen another request or another state than those
// that the approval has.
func sawThis(r *records.Approval, d countersign.Decision) error {
	switch {
	case d.RequestDigest != "" && d.RequestDigest != r.RequestDigest:
		return countersign.RefusedAt(countersign.CodeStateConflict, "requestDigest", "approval %s is of another request than the one that was seen; read it again", r.ID)
	case d.StateDigest != "" && d.StateDigest != r.StateDigest:
		return countersign.RefusedAt(countersign.CodeStateConflict, "stateDigest", "approval %s is on another state than the one that was seen; read it again", r.ID)
	}
	return nil
}
