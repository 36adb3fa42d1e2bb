package approvals

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Waiting is a run that waits for a person, with its steps in the form of lists, but for
// where they were sent; and its approval without content.
type Waiting struct {
	Run      countersign.Run
	Approval *countersign.Approval // the pending one; nil if the run waits for a reconciliation
	Barred   error                 // why this actor can't be that person; nil when they can
}

// Waiting lists the runs within the actor's scope that wait for a person: uncertain
// outcomes, then approvals, each oldest first. limit bounds each kind; more reports that
// there are more than were read.
func (s *ReviewService) Waiting(ctx context.Context, a core.Actor, limit int) (list []Waiting, more bool, err error) {
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		uncertain, moreUncertain, err := s.uncertainRuns(tx, a, limit)
		if err != nil {
			return err
		}
		asked, moreAsked, err := s.pendingApprovals(tx, a, limit)
		list, more = slices.Concat(uncertain, asked), moreUncertain || moreAsked
		return err
	})
	return list, more, err
}

// Uncertain lists the runs within the actor's scope whose outcome nobody knows, the oldest first.
func (s *ReviewService) Uncertain(ctx context.Context, a core.Actor, limit int) (list []Waiting, err error) {
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		list, _, err = s.uncertainRuns(tx, a, limit)
		return err
	})
	return list, err
}

// uncertainRuns lists the runs with an unknown outcome. Reconciled runs that wait for a slot
// have the same status, but wait for nobody.
func (s *ReviewService) uncertainRuns(tx store.Tx, a core.Actor, limit int) (list []Waiting, more bool, err error) {
	names := names.In(tx, a.Tenant)
	more, err = eachOldest(s, tx, a, store.Runs, records.Runs, string(countersign.RunRecoveryRequired), limit, func(rec *records.Run) error {
		if rec.WaitingFor == nil || rec.WaitingFor.Kind != countersign.WaitReconcile {
			return nil
		}
		w := Waiting{Run: rec.Run, Barred: s.BarredFrom(tx, a, core.AboutRun(access.ReconcileRun, rec))}
		passed, err := s.Passes(store.Runs, a.Tenant, rec.ID, s.withSteps(names, a, &w.Run, rec.Probes))
		if !passed {
			list = append(list, w)
		}
		return err
	})
	return list, more, err
}

// pendingApprovals lists the pending approvals.
func (s *ReviewService) pendingApprovals(tx store.Tx, a core.Actor, limit int) (list []Waiting, more bool, err error) {
	names := names.In(tx, a.Tenant)
	more, err = eachOldest(s, tx, a, store.Approvals, records.Approvals, string(countersign.ApprovalPending), limit, func(rec *records.Approval) error {
		w, err := s.pendingApproval(tx, a, names, rec)
		passed, err := s.Passes(store.Approvals, a.Tenant, rec.ID, err)
		if !passed {
			list = append(list, w)
		}
		return err
	})
	return list, more, err
}

func (s *ReviewService) pendingApproval(tx store.Tx, a core.Actor, names names.ReadNames, rec *records.Approval) (w Waiting, err error) {
	run, _, err := records.Runs.Get(tx, a.Tenant, rec.RunID)
	if err != nil {
		return w, err
	}
	w = Waiting{Run: run.Run, Barred: s.approvals.barredDecision(tx, a, rec)}
	if err := s.withSteps(names, a, &w.Run, run.Probes); err != nil {
		return w, err
	}
	showDoors(rec)
	if err := s.approvals.ShowApproval(names, a, &rec.Approval); err != nil {
		return w, err
	}
	w.Approval = new(WithoutContent(rec.Approval))
	return w, nil
}

// eachOldest hands over the oldest documents of a status, a few in memory at a time, and
// reports that there are more.
func eachOldest[T any](s *ReviewService, tx store.Tx, a core.Actor, t *store.Table, c store.Collection[T], status string, limit int, each func(*T) error) (more bool, err error) {
	where, err := records.InScope(tx, t, a.Principal)
	if err != nil {
		return false, err
	}
	q := store.Query{Where: append(where, store.Equal("status", status)), Order: core.OldestFirst, Limit: limit}
	total, err := tx.Count(t, a.Tenant, q)
	if err != nil {
		return false, err
	}
	return total > limit, c.EachReadable(tx, a.Tenant, q, core.ReadAtOnce, each, s.Damaged(t, a.Tenant))
}

// withSteps adds a run's steps in the form of lists, with the method and address of what was
// sent.
func (s *ReviewService) withSteps(names names.ReadNames, a core.Actor, r *countersign.Run, probes int) error {
	r.Steps = []countersign.StepRun{}
	err := runrepo.EachStep(names.Tx, runrepo.Ref{Tenant: a.Tenant, RunID: r.ID}, probes, func(step *countersign.StepRun) {
		listed := runrepo.ListedStep(*step)
		if step.Request != nil {
			listed.Request = &countersign.Request{Method: step.Request.Method, URL: step.Request.URL}
		}
		r.Steps = append(r.Steps, listed)
	})
	if err != nil {
		return err
	}
	if err := names.Run(r); err != nil {
		return err
	}
	return s.MaskFor(names.Tx, a, r)
}

// Barred returns why the actor may not do an operation (access.DecideApproval,
// access.ReconcileRun, access.ProbeRun) on a run in scope: its role, or that it requested
// the run. why is nil if the actor may.
func (s *ReviewService) Barred(ctx context.Context, a core.Actor, op access.Operation, runID string) (why, err error) {
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, runID)
		if err != nil {
			return err
		}
		why = s.BarredFrom(tx, a, core.AboutRun(op, rec))
		return nil
	})
	return why, err
}
