// Package runs holds the use cases of runs: starting, reading, searching, watching, stopping, probing.
package runs

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/plans"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/redaction"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RunService is the use cases of runs, and what of them others need.
type RunService struct {
	*core.Core
	names   *names.Cache
	search  *SearchService
	driver  Driver
	live    *updates.Hub
	streams streamCounts
}

// NewRuns returns the use cases. d continues the runs that they move.
func NewRuns(c *core.Core, names *names.Cache, search *SearchService, d Driver, hub *updates.Hub) *RunService {
	return &RunService{Core: c, names: names, search: search, driver: d, live: hub}
}

// Run reads one run with its steps and the snapshot of its plan.
func (s *RunService) Run(ctx context.Context, a core.Actor, id string) (r countersign.Run, err error) {
	if err := access.Allow(a.Principal, access.ReadRuns); err != nil {
		return r, err
	}
	if known := s.knownRun(ctx, a, id); known != nil {
		return *known, nil
	}
	if s.Alone == nil {
		s.Repo.Settle(ctx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		r, err = s.WholeRun(tx, a, id)
		return err
	})
	return r, err
}

// knownRun is WholeRun without the store, for those who ask again and again how a run goes.
// It gives nil where anything isn't in memory, depends on the time or is refused or masked,
// and where a step was probed or resolved.
func (s *RunService) knownRun(ctx context.Context, a core.Actor, id string) *countersign.Run {
	if s.Alone == nil || core.Masks(a) {
		return nil
	}
	rec := s.Repo.Latest(ctx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if rec == nil || run.WaitsForSlot(&rec.Run) || slices.ContainsFunc(rec.Steps, names.WasReviewed) || a.ForAgents() && core.ShowsLooks(&rec.Run) || access.InRun(a.Principal, rec.AgentID, rec.Projects...) != nil {
		return nil
	}
	name, err := s.names.NameOf(ctx, a.Tenant, rec.RequestedBy)
	if err != nil {
		return nil
	}
	r := rec.Run
	r.RequestedByName, r.PlanSnapshot = name, s.Repo.KnownWholePlan(a.Tenant, r.PlanID, r.PlanDigest)
	if r.PlanSnapshot == nil || r.Hold != nil || r.Redacted != nil { // what names who did it, and what its plan doesn't hold any more
		return nil
	}
	return &r
}

// WholeRun reads a run with its steps and the snapshot of its plan, in a View.
func (s *RunService) WholeRun(tx store.Tx, a core.Actor, id string) (r countersign.Run, err error) {
	if r, err = s.runWithSteps(tx, a, id); err != nil {
		return r, err
	}
	if r.PlanSnapshot, err = s.snapshotOf(tx, a.Tenant, &r); err != nil {
		return r, err
	}
	if r.Redacted != nil { // the plan may be in memory as it was, or another run still has it
		p := redaction.Plan(r.PlanSnapshot, r.Redacted.At)
		r.PlanSnapshot = &p
	}
	if err := names.In(tx, a.Tenant).Run(&r); err != nil {
		return r, err
	}
	err = s.MaskFor(tx, a, &r)
	return r, err
}

// runWithSteps reads a run with its steps, in a View. What it refers to must not be
// changed.
func (s *RunService) runWithSteps(tx store.Tx, a core.Actor, id string) (countersign.Run, error) {
	rec, err := s.Repo.Read(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id})
	if err != nil {
		return countersign.Run{}, reach.FoundRun(tx, a, id, err)
	}
	return rec.Run, access.InRun(a.Principal, rec.AgentID, rec.Projects...)
}

// moved tells those who watch, and the engine, of a committed run.
func (s *RunService) moved(h *runrepo.LoadedRun) {
	s.Repo.Committed(h)
	s.live.Publish(h.Ref.Tenant, h.Run())
	s.driver.Drive(h)
}

// CancelRun ends a run, or asks for its outcome to be reconciled where a side
// effect is on its way (contract 6).
func (s *RunService) CancelRun(ctx context.Context, a core.Actor, id, reason string) (countersign.Run, error) {
	if err := core.Given("reason", reason); err != nil {
		return countersign.Run{}, err
	}
	mayCancel := func(_ store.Tx, rec *records.Run) error {
		if rec.Mode == countersign.ModeLive {
			if err := access.Mode(a.Principal, rec.Mode); err != nil {
				return err
			}
		}
		return access.Cancel(a.Principal, rec.Requester)
	}
	return s.applyTo(ctx, a, access.CancelRun, id, mayCancel, run.CancelAsked{Reason: reason, By: a.ID})
}

// ReconcileRun says what became of an uncertain step, with evidence.
func (s *RunService) ReconcileRun(ctx context.Context, a core.Actor, id string, r countersign.Reconcile) (countersign.Run, error) {
	if err := core.WellFormed(a, r); err != nil {
		return countersign.Run{}, err
	}
	if err := core.Given("evidence", r.Evidence); err != nil {
		return countersign.Run{}, err
	}
	mayJudge := s.MayJudgeRun(a, access.ReconcileRun)
	check := func(tx store.Tx, rec *records.Run) error {
		if err := mayJudge(tx, rec); err != nil {
			return err
		}
		return s.quiet(runrepo.Ref{Tenant: a.Tenant, RunID: id}, rec)
	}
	return s.applyTo(ctx, a, access.ReconcileRun, id, check, run.Reconciled{Reconcile: r, By: a.ID})
}

// applyTo applies an event that a person caused to a run in scope.
func (s *RunService) applyTo(ctx context.Context, a core.Actor, op access.Operation, id string, check func(store.Tx, *records.Run) error, e run.Event) (r countersign.Run, err error) {
	var moved runrepo.Moved
	err = s.Update(ctx, a, op, "run/"+id, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, id)
		if err != nil {
			return err
		}
		if err := check(tx, rec); err != nil {
			return err
		}
		moved, err = s.Repo.Apply(tx, runrepo.Ref{Tenant: a.Tenant, RunID: id}, nil, e, a.RunActor())
		return err
	})
	if err != nil {
		return r, err
	}
	s.Settled(ctx, moved)
	ctx = context.WithoutCancel(ctx) // the run has moved: no answer may say any more that nothing was changed
	err = s.Read(ctx, func(tx store.Tx) error {
		r, err = s.WholeRun(tx, a, id)
		return err
	})
	if s.IsMade(a, "run/"+id, err) {
		return s.asMoved(a, moved.Run), nil
	}
	return r, err
}

// asMoved is a run as it was committed, for the answer to a change that is made while the store
// can't be read: without names, and without its plan where that isn't in memory.
func (s *RunService) asMoved(a core.Actor, h *runrepo.LoadedRun) countersign.Run {
	r := *h.Run()
	r.PlanSnapshot = s.Repo.KnownWholePlan(h.Ref.Tenant, r.PlanID, r.PlanDigest)
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Probes = slices.DeleteFunc(slices.Clone(r.Steps[i].Probes), func(p countersign.ProbeRecord) bool { return !runrepo.WasRead(p) })
	}
	if a.ForAgents() {
		mask.ForAgents(&r, func(string, string) bool { return false }) // which reads are its own can't be looked up now
	}
	return r
}

// Settled tells those who watch, and the engine, of all runs that a committed change has moved.
func (s *RunService) Settled(ctx context.Context, m runrepo.Moved) {
	s.Repo.Observe(m)
	telemetry.Moved(ctx, m.Run.Ref.RunID, m.Run.Trace())
	s.moved(m.Run)
	for _, other := range m.Others {
		s.moved(other)
	}
}

// snapshotOf is the plan that a run was started from, with all that it refers to, in
// a View; mostly from memory. It must not be changed.
func (s *RunService) snapshotOf(tx store.Tx, tenant string, r *countersign.Run) (*countersign.Plan, error) {
	return s.Repo.WholePlan(tx, tenant, r.PlanID, r.PlanDigest, func(p countersign.Plan) (countersign.Plan, int, error) {
		return plans.WithModels(tx, tenant, p)
	})
}

// Driver gets each run that was started or moved, and continues it.
type Driver interface {
	Drive(moved *runrepo.LoadedRun)
	// Begin applies a run's first event in the transaction that makes it; nil: Drive begins it.
	Begin(tx store.Tx, made *runrepo.LoadedRun) (runrepo.Begun, error)
	// Calls reports that this process has a side effect of a run under way.
	Calls(ref runrepo.Ref) bool
	Asker
	// Look makes a read for a precondition, whose intent is committed.
	Look(ref runrepo.Ref, l *run.Look) (run.Looked, error)
}
