package control

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Waiting is a run that waits for a person.
type Waiting struct {
	Run      countersign.Run
	Approval *countersign.Approval // the pending one; nil if the run waits for a reconciliation
	Barred   error                 // why this actor can't be that person; nil when they can
}

// Waiting lists the runs within the actor's scope that wait for a person: uncertain
// outcomes, then approvals, each oldest first. limit bounds each kind; more reports that
// there are more than were read.
func (s *Service) Waiting(ctx context.Context, a Actor, limit int) (list []Waiting, more bool, err error) {
	err = s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error {
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

// uncertainRuns lists the runs with an unknown outcome. Reconciled runs that wait for a slot
// have the same status, but wait for nobody.
func (s *Service) uncertainRuns(tx store.Tx, a Actor, limit int) ([]Waiting, bool, error) {
	names := namesIn(tx, a.Tenant)
	list, more, err := oldest(s, tx, a, records.Runs, string(countersign.RunRecoveryRequired), limit, func(rec *records.Run) (w Waiting, err error) {
		if rec.WaitingFor == nil || rec.WaitingFor.Kind != countersign.WaitReconcile {
			return w, nil
		}
		w = Waiting{Run: rec.Run, Barred: s.barred(tx, a, aboutRun(access.ReconcileRun, rec))}
		return w, s.withSteps(names, a, &w.Run, rec.Probes)
	})
	return slices.DeleteFunc(list, func(w Waiting) bool { return w.Run.ID == "" }), more, err
}

// pendingApprovals lists the pending approvals.
func (s *Service) pendingApprovals(tx store.Tx, a Actor, limit int) ([]Waiting, bool, error) {
	names := namesIn(tx, a.Tenant)
	return oldest(s, tx, a, records.Approvals, string(countersign.ApprovalPending), limit, func(rec *records.Approval) (w Waiting, err error) {
		run, _, err := records.Runs.Get(tx, a.Tenant, rec.RunID)
		if err != nil {
			return w, err
		}
		w = Waiting{Run: run.Run, Approval: &rec.Approval, Barred: s.barredDecision(tx, a, rec)}
		if err := s.withSteps(names, a, &w.Run, run.Probes); err != nil {
			return w, err
		}
		return w, s.showApproval(names, a, w.Approval)
	})
}

func oldest[T any](s *Service, tx store.Tx, a Actor, c store.Collection[T], status string, limit int, show func(*T) (Waiting, error)) (list []Waiting, more bool, err error) {
	where, err := records.InScope(tx, c.Table, a.Principal)
	if err != nil {
		return nil, false, err
	}
	l := List{Limit: limit}
	page, err := showPage(s, tx, a.Tenant, c, l, l.query(oldestFirst, append(where, store.Equal("status", status))...), show)
	return page.Items, page.NextOffset != nil, err
}

func (s *Service) withSteps(names readNames, a Actor, r *countersign.Run, probes int) error {
	r.Steps = []countersign.StepRun{}
	err := runrepo.EachStep(names.tx, runrepo.Ref{Tenant: a.Tenant, RunID: r.ID}, probes, func(step *countersign.StepRun) { r.Steps = append(r.Steps, *step) })
	if err != nil {
		return err
	}
	if err := names.run(r); err != nil {
		return err
	}
	return s.maskFor(names.tx, a, r)
}

// Barred returns why the actor may not do an operation (access.DecideApproval,
// access.ReconcileRun, access.ProbeRun) on a run in scope: its role, or that it requested
// the run. why is nil if the actor may.
func (s *Service) Barred(ctx context.Context, a Actor, op access.Operation, runID string) (why, err error) {
	err = s.view(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		rec, err := reachRun(tx, a, runID)
		if err != nil {
			return err
		}
		why = s.barred(tx, a, aboutRun(op, rec))
		return nil
	})
	return why, err
}
