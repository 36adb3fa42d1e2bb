package control

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/plan"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/run"
	"github.com/countersign/countersign/internal/store"
)

// RunFilter narrows a listing of runs; empty fields do not.
type RunFilter struct{ Status, PlanID string }

// Runs lists the runs within the actor's scope, newest first, with their steps.
func (s *Service) Runs(ctx context.Context, a Actor, l List, f RunFilter) (page countersign.Page[countersign.Run], err error) {
	err = s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		where, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		where = append(where, equals(map[string]string{"status": f.Status, "plan": f.PlanID})...)
		found, err := records.Runs.Page(tx, a.Tenant, l.query(newestFirst, where...))
		if err != nil {
			return err
		}
		for i := range found.Items {
			r := &found.Items[i]
			if r.Steps, err = ledger.Steps(tx, ledger.Ref{Tenant: a.Tenant, RunID: r.ID}); err != nil {
				return err
			}
			if err := s.maskFor(tx, a, &r.Run); err != nil {
				return err
			}
		}
		page = mapPage(found, l, func(r records.Run) countersign.Run { return r.Run })
		return nil
	})
	return page, err
}

// Run reads one run with its steps and the snapshot of its plan.
func (s *Service) Run(ctx context.Context, a Actor, id string) (r countersign.Run, err error) {
	err = s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		r, err = s.wholeRun(tx, a, id)
		return err
	})
	return r, err
}

func (s *Service) wholeRun(tx store.Tx, a Actor, id string) (countersign.Run, error) {
	rec, err := reachRun(tx, a, id)
	if err != nil {
		return countersign.Run{}, err
	}
	r := rec.Run
	if r.Steps, err = ledger.Steps(tx, ledger.Ref{Tenant: a.Tenant, RunID: id}); err != nil {
		return r, err
	}
	stored, _, err := records.Plans.Get(tx, a.Tenant, r.PlanID)
	if err != nil {
		return r, err
	}
	p, err := snapshot(tx, a.Tenant, stored.Plan)
	r.PlanSnapshot = &p
	if err != nil {
		return r, err
	}
	return r, s.maskFor(tx, a, &r)
}

func reachRun(tx store.Tx, a Actor, id string) (*records.Run, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, found(err, "run", id)
	}
	return rec, access.InScope(a.Principal, rec.Projects...)
}

// Started is the answer of starting a run: the run, and whether an earlier start
// with the same key made it.
type Started struct {
	Run      countersign.Run
	Replayed bool
}

// StartRun starts a plan's run, once for each idempotency key (specification 4,
// rule 2). The key is looked up before state, drift and capacity are checked,
// so that a repeat always finds its run; a refused start doesn't burn it.
func (s *Service) StartRun(ctx context.Context, a Actor, planID, key string) (out Started, err error) {
	rec, err := s.planToRun(ctx, a, planID)
	if err != nil {
		return out, err
	}
	fingerprint, err := countersign.CanonicalDigest([]any{access.StartRun, "", countersign.RunStart{PlanID: planID}})
	if err != nil {
		return out, err
	}
	var held *ledger.Held
	runID := s.cfg.NewID("run")
	err = s.update(ctx, a, access.StartRun, "plan/"+planID, func(tx store.Tx) error {
		held = nil
		earlier, err := claimed(tx, a, key, fingerprint)
		if err != nil || earlier != "" {
			out = Started{Replayed: true}
			out.Run.ID = earlier
			return err
		}
		if err := s.mayStart(tx, a, rec); err != nil {
			return err
		}
		if _, err := records.Claims.Put(tx, a.Tenant, key, &records.Claim{RunID: runID, Fingerprint: fingerprint}, 0); err != nil {
			return err
		}
		p, err := s.ledger.Plan(tx, a.Tenant, planID, rec.PlanDigest)
		if err != nil {
			return err
		}
		r := run.New(p, runID, a.ID, key, s.cfg.Now())
		held, err = s.ledger.Start(tx, p, a.Tenant, r, a.Requester(), a.RequestID)
		return err
	})
	if err != nil {
		return out, err
	}
	if held != nil {
		out = Started{Run: *held.Run()}
		s.moved(held)
	}
	return s.withSnapshot(ctx, a, out)
}

// withSnapshot completes the answer of a start. A replay shows the run's present
// state; a new run is shown as it was stored, READY.
func (s *Service) withSnapshot(ctx context.Context, a Actor, out Started) (Started, error) {
	err := s.view(ctx, a, access.StartRun, func(tx store.Tx) error {
		whole, err := s.wholeRun(tx, a, out.Run.ID)
		if err != nil || out.Replayed {
			out.Run = whole
			return err
		}
		out.Run.PlanSnapshot = whole.PlanSnapshot
		return nil
	})
	return out, err
}

func (s *Service) planToRun(ctx context.Context, a Actor, planID string) (rec *records.Plan, err error) {
	err = s.view(ctx, a, access.StartRun, func(tx store.Tx) error {
		if rec, err = reachPlan(tx, a, planID); err != nil {
			return err
		}
		return access.Mode(a.Principal, rec.Mode)
	})
	return rec, s.refused(ctx, a, access.StartRun, "plan/"+planID, err)
}

// claimed finds the run that the key started before; "" when the key is free.
func claimed(tx store.Tx, a Actor, key, fingerprint string) (string, error) {
	claim, _, err := records.Claims.Get(tx, a.Tenant, key)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	_, err = reachRun(tx, a, claim.RunID)
	switch {
	case countersign.ErrorCode(err) == countersign.CodeProjectScope:
		return "", countersign.Errorf(countersign.CodeIdempotencyConflict, "Idempotency-Key: it is in use; take a fresh one")
	case err != nil:
		return "", err
	case claim.Fingerprint != fingerprint:
		return "", countersign.Errorf(countersign.CodeIdempotencyConflict, "Idempotency-Key: it started run %s with other content; take a fresh one", claim.RunID)
	}
	return claim.RunID, nil
}

// mayStart checks what must hold at the start and may change afterwards.
func (s *Service) mayStart(tx store.Tx, a Actor, rec *records.Plan) error {
	p := &rec.Plan
	now, err := ledger.Standings(tx, a.Tenant, p)
	if err != nil {
		return err
	}
	if e := plan.Disabled(p, p.Mode, now); e != nil {
		return e
	}
	if rec.Synthetic {
		return countersign.Errorf(countersign.CodeStateConflict, "plan %s belongs to an agent or team run; start that again instead", p.ID)
	}
	if p.Status != countersign.PlanReady {
		return countersign.Errorf(countersign.CodePlanInvalid, "plan %s is INVALID: %s", p.ID, p.ValidationErrors[0])
	}
	if e := plan.Refusal(p, p.Mode, now); e != nil {
		return e
	}
	return s.ledger.Free(tx)
}

// moved tells those who watch, and the engine, of a committed run.
func (s *Service) moved(h *ledger.Held) {
	s.live.Publish(h.Ref.Tenant, h.Run())
	s.waker.Wake(h.Ref)
}

// CancelRun ends a run, or asks for its outcome to be reconciled where a side
// effect is on its way (contract 6).
func (s *Service) CancelRun(ctx context.Context, a Actor, id, reason string) (countersign.Run, error) {
	if err := given("reason", reason); err != nil {
		return countersign.Run{}, err
	}
	return s.applyTo(ctx, a, access.CancelRun, id, func(*records.Run) error { return nil }, run.CancelAsked{Reason: reason, By: a.ID})
}

// ReconcileRun says what became of an uncertain step, with evidence.
func (s *Service) ReconcileRun(ctx context.Context, a Actor, id string, r countersign.Reconcile) (countersign.Run, error) {
	if err := given("evidence", r.Evidence); err != nil {
		return countersign.Run{}, err
	}
	return s.applyTo(ctx, a, access.ReconcileRun, id, s.fourEyes(a), run.Reconciled{Reconcile: r, By: a.ID})
}

// fourEyes keeps whoever asked for a run from judging it.
func (s *Service) fourEyes(a Actor) func(*records.Run) error {
	return func(rec *records.Run) error {
		if s.cfg.AllowSelfApproval {
			return nil
		}
		return access.FourEyes(a.Principal, rec.Requester)
	}
}

// applyTo applies an event that a person caused to a run in scope.
func (s *Service) applyTo(ctx context.Context, a Actor, op access.Operation, id string, check func(*records.Run) error, e run.Event) (r countersign.Run, err error) {
	var moved ledger.Moved
	err = s.update(ctx, a, op, "run/"+id, func(tx store.Tx) error {
		rec, err := reachRun(tx, a, id)
		if err != nil {
			return err
		}
		if err := check(rec); err != nil {
			return err
		}
		moved, err = s.ledger.Apply(tx, ledger.Ref{Tenant: a.Tenant, RunID: id}, nil, e, a.ledger())
		return err
	})
	if err != nil {
		return r, err
	}
	s.settled(moved)
	err = s.view(ctx, a, op, func(tx store.Tx) error {
		r, err = s.wholeRun(tx, a, id)
		return err
	})
	return r, err
}

func (s *Service) settled(m ledger.Moved) {
	s.moved(m.Run)
	for _, other := range m.Others {
		s.moved(other)
	}
}
