package control

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RunFilter narrows a listing of runs; empty fields do not. Since and Until keep the runs
// that were started then or later, and before. Text, Reason (a code) and Capability (alone
// or behind its project and a slash) are looked up in the index of runs, the newest 1,000
// of each.
type RunFilter struct {
	Status, PlanID, AgentID  string
	Text, Reason, Capability string
	Since, Until             time.Time
}

// Runs lists the runs within the actor's scope, newest first, with their steps in the
// form of lists (contract 1).
func (s *Service) Runs(ctx context.Context, a Actor, l List, f RunFilter) (countersign.Page[countersign.Run], error) {
	return ListRuns(ctx, s, a, l, f, func(r countersign.Run) (countersign.Run, error) { return r, nil })
}

// ListRuns is Runs of what show makes of each: a run may have a hundred mebibytes, and
// is in memory alone.
func ListRuns[T any](ctx context.Context, s *Service, a Actor, l List, f RunFilter, show func(countersign.Run) (T, error)) (page countersign.Page[T], err error) {
	err = s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		where, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		where = append(where, equals(map[string]string{"status": f.Status, "plan": f.PlanID, "agent": f.AgentID})...)
		if !f.Since.IsZero() {
			where = append(where, store.Filter{Column: "created", Op: store.AtLeast, Values: []any{f.Since.UnixMicro()}})
		}
		if !f.Until.IsZero() {
			where = append(where, store.Filter{Column: "created", Op: store.AtMost, Values: []any{f.Until.UnixMicro() - 1}})
		}
		narrowed, err := s.narrowed(tx, a, f)
		if err != nil {
			return err
		}
		where = append(where, narrowed...)
		q := l.query(newestFirst, where...)
		total, err := tx.Count(store.Runs, a.Tenant, q)
		if err != nil {
			return err
		}
		rows, err := tx.List(store.Runs, a.Tenant, q)
		if err != nil {
			return err
		}
		items := make([]T, len(rows))
		for i, row := range rows {
			r, err := s.listedRun(tx, a, row)
			if err != nil {
				return err
			}
			if items[i], err = show(r); err != nil {
				return err
			}
		}
		page = countersign.NewPage(items, l.Offset, total)
		return nil
	})
	return page, err
}

// listedRun gives a run as lists show it, by its row. The latest runs, which people look at,
// are mostly in memory with their steps.
func (s *Service) listedRun(tx store.Tx, a Actor, row store.Row) (r countersign.Run, err error) {
	if rec := s.runs.Remembered(a.Tenant, row); rec != nil {
		r = ListedRun(rec.Run)
	} else if r, err = listedFrom(tx, a, row); err != nil {
		return r, err
	}
	if err := nameRun(tx, a.Tenant, &r); err != nil {
		return r, err
	}
	return r, s.maskFor(tx, a, &r)
}

// listedFrom reads a run's steps without what lists leave out, which may be most of them.
func listedFrom(tx store.Tx, a Actor, row store.Row) (countersign.Run, error) {
	var rec records.Run
	if err := records.Decode(row, &rec); err != nil {
		return countersign.Run{}, err
	}
	r := rec.Run
	r.Steps = []countersign.StepRun{}
	return r, runrepo.EachStep(tx, runrepo.Ref{Tenant: a.Tenant, RunID: r.ID}, rec.Probes, func(step *countersign.StepRun) {
		r.Steps = append(r.Steps, listedStep(*step))
	})
}

// ListedRun is a run as lists show it, and events: without the snapshot of its plan and
// each step's request, response and output, and those of its probes (contract 1).
func ListedRun(r countersign.Run) countersign.Run {
	r.PlanSnapshot, r.Steps = nil, slices.Clone(r.Steps)
	for i, step := range r.Steps {
		r.Steps[i] = listedStep(step)
	}
	return r
}

func listedStep(s countersign.StepRun) countersign.StepRun {
	s.Request, s.Response, s.Output = nil, nil, countersign.Value{}
	s.Probes = slices.DeleteFunc(slices.Clone(s.Probes), func(p countersign.ProbeRecord) bool { return !runrepo.WasRead(p) })
	for i := range s.Probes {
		s.Probes[i] = runrepo.Listed(s.Probes[i])
	}
	return s
}

// Run reads one run with its steps and the snapshot of its plan.
func (s *Service) Run(ctx context.Context, a Actor, id string) (r countersign.Run, err error) {
	if err := access.Allow(a.Principal, access.ReadRuns); err != nil {
		return r, err
	}
	if known := s.knownRun(ctx, a, id); known != nil {
		return *known, nil
	}
	if s.alone == nil {
		s.runs.Settle(ctx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	}
	err = s.read(ctx, func(tx store.Tx) error {
		r, err = s.wholeRun(tx, a, id)
		return err
	})
	return r, err
}

// knownRun is wholeRun without the store, for those who ask again and again how a run goes.
// It gives nil where anything isn't in memory, depends on the time or is refused or masked,
// and where a step was probed or resolved.
func (s *Service) knownRun(ctx context.Context, a Actor, id string) *countersign.Run {
	if s.alone == nil || masks(a) {
		return nil
	}
	rec := s.runs.Latest(ctx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if rec == nil || run.WaitsForSlot(&rec.Run) || slices.ContainsFunc(rec.Steps, wasReviewed) || access.InRun(a.Principal, rec.AgentID, rec.Projects...) != nil {
		return nil
	}
	name, err := s.nameOf(ctx, a.Tenant, rec.RequestedBy)
	if err != nil {
		return nil
	}
	r := rec.Run
	r.RequestedByName, r.PlanSnapshot = name, s.runs.KnownWholePlan(a.Tenant, r.PlanID, r.PlanDigest)
	if r.PlanSnapshot == nil {
		return nil
	}
	return &r
}

// wholeRun reads a run with its steps and the snapshot of its plan, in a View.
func (s *Service) wholeRun(tx store.Tx, a Actor, id string) (r countersign.Run, err error) {
	if r, err = s.runWithSteps(tx, a, id); err != nil {
		return r, err
	}
	if r.PlanSnapshot, err = s.snapshotOf(tx, a.Tenant, &r); err != nil {
		return r, err
	}
	if err := nameRun(tx, a.Tenant, &r); err != nil {
		return r, err
	}
	err = s.maskFor(tx, a, &r)
	return r, err
}

// runWithSteps reads a run with its steps, in a View. What it refers to must not be
// changed.
func (s *Service) runWithSteps(tx store.Tx, a Actor, id string) (countersign.Run, error) {
	rec, err := s.runs.Read(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if err != nil {
		return countersign.Run{}, foundRun(tx, a, id, err)
	}
	return rec.Run, access.InRun(a.Principal, rec.AgentID, rec.Projects...)
}

func reachRun(tx store.Tx, a Actor, id string) (*records.Run, error) {
	rec, _, err := records.Runs.Get(tx, a.Tenant, id)
	if err != nil {
		return nil, foundRun(tx, a, id, err)
	}
	return rec, access.InRun(a.Principal, rec.AgentID, rec.Projects...)
}

// moved tells those who watch, and the engine, of a committed run.
func (s *Service) moved(h *runrepo.LoadedRun) {
	s.runs.Committed(h)
	s.live.Publish(h.Ref.Tenant, h.Run())
	s.driver.Drive(h)
}

// CancelRun ends a run, or asks for its outcome to be reconciled where a side
// effect is on its way (contract 6).
func (s *Service) CancelRun(ctx context.Context, a Actor, id, reason string) (countersign.Run, error) {
	if err := given("reason", reason); err != nil {
		return countersign.Run{}, err
	}
	mayCancel := func(_ store.Tx, rec *records.Run) error {
		return access.Cancel(a.Principal, rec.RequestedBy)
	}
	return s.applyTo(ctx, a, access.CancelRun, id, mayCancel, run.CancelAsked{Reason: reason, By: a.ID})
}

// ReconcileRun says what became of an uncertain step, with evidence.
func (s *Service) ReconcileRun(ctx context.Context, a Actor, id string, r countersign.Reconcile) (countersign.Run, error) {
	if err := given("evidence", r.Evidence); err != nil {
		return countersign.Run{}, err
	}
	return s.applyTo(ctx, a, access.ReconcileRun, id, s.mayJudgeRun(a, access.ReconcileRun), run.Reconciled{Reconcile: r, By: a.ID})
}

// applyTo applies an event that a person caused to a run in scope.
func (s *Service) applyTo(ctx context.Context, a Actor, op access.Operation, id string, check func(store.Tx, *records.Run) error, e run.Event) (r countersign.Run, err error) {
	var moved runrepo.Moved
	err = s.update(ctx, a, op, "run/"+id, func(tx store.Tx) error {
		rec, err := reachRun(tx, a, id)
		if err != nil {
			return err
		}
		if err := check(tx, rec); err != nil {
			return err
		}
		moved, err = s.runs.Apply(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id}, nil, e, a.runActor())
		return err
	})
	if err != nil {
		return r, err
	}
	s.settled(ctx, moved)
	ctx = context.WithoutCancel(ctx) // the run has moved: no answer may say any more that nothing was changed
	err = s.read(ctx, func(tx store.Tx) error {
		r, err = s.wholeRun(tx, a, id)
		return err
	})
	return r, err
}

func (s *Service) settled(ctx context.Context, m runrepo.Moved) {
	s.runs.Observe(m)
	telemetry.Moved(ctx, m.Run.Ref.RunID, m.Run.Trace())
	s.moved(m.Run)
	for _, other := range m.Others {
		s.moved(other)
	}
}
