package runs

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
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
func (s *RunService) Runs(ctx context.Context, a core.Actor, l core.List, f RunFilter) (countersign.Page[countersign.Run], error) {
	return ListRuns(ctx, s, a, l, f, core.Whole)
}

// ListRuns is Runs of what show makes of each: a run may have a hundred mebibytes, and
// is in memory alone.
func ListRuns[T any](ctx context.Context, s *RunService, a core.Actor, l core.List, f RunFilter, show func(countersign.Run) (T, error)) (page countersign.Page[T], err error) {
	found, err := s.search.runsFound(ctx, a, f.Text)
	if err != nil {
		return page, err
	}
	err = s.View(ctx, a, access.ReadRuns, func(tx store.Tx) error {
		where, err := records.InScope(tx, store.Runs, a.Principal)
		if err != nil {
			return err
		}
		where = append(where, core.Equals(map[string]string{"status": f.Status, "plan": f.PlanID, "agent": f.AgentID})...)
		if !f.Since.IsZero() {
			where = append(where, store.Filter{Column: "created", Op: store.AtLeast, Values: []any{f.Since.UnixMicro()}})
		}
		if !f.Until.IsZero() {
			where = append(where, store.Filter{Column: "created", Op: store.AtMost, Values: []any{f.Until.UnixMicro() - 1}})
		}
		narrowed, err := narrowed(tx, a, f, found)
		if err != nil {
			return err
		}
		where = append(where, narrowed...)
		q := l.Query(core.NewestFirst, where...)
		total, err := tx.Count(store.Runs, a.Tenant, q)
		if err != nil {
			return err
		}
		rows, err := tx.List(store.Runs, a.Tenant, q)
		if err != nil {
			return err
		}
		items, err := showRuns(s, tx, a, rows, show)
		if err != nil {
			return err
		}
		page = core.PageBehind(items, l.Offset, len(rows), total)
		return nil
	})
	return page, err
}

func showRuns[T any](s *RunService, tx store.Tx, a core.Actor, rows []store.Row, show func(countersign.Run) (T, error)) ([]T, error) {
	p, err := s.pageOfRuns(tx, a, rows)
	if err != nil {
		return nil, err
	}
	items := make([]T, 0, len(rows))
	for i, row := range rows {
		if p.runs[i] == nil {
			continue
		}
		r, err := p.run(i)
		if passed, err := s.Passes(store.Runs, a.Tenant, row.ID, err); err != nil {
			return nil, err
		} else if passed {
			continue
		}
		item, err := show(r)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// runsPage is a page of runs that is being read.
type runsPage struct {
	service *RunService
	tx      store.Tx
	actor   core.Actor
	names   names.ReadNames
	runs    []*records.Run                   // nil if it can't be read; with their steps if they were in memory, as the latest ones mostly are
	steps   map[string][]countersign.StepRun // of the others, if they could be read together
}

func (s *RunService) pageOfRuns(tx store.Tx, a core.Actor, rows []store.Row) (p runsPage, err error) {
	p = runsPage{service: s, tx: tx, actor: a, names: names.In(tx, a.Tenant), runs: make([]*records.Run, len(rows))}
	var together []string
	for i, row := range rows {
		if p.runs[i] = s.Repo.Remembered(a.Tenant, row); p.runs[i] != nil {
			continue
		}
		p.runs[i] = new(records.Run)
		passed, err := s.Passes(store.Runs, a.Tenant, row.ID, records.Decode(row, p.runs[i]))
		if err != nil {
			return p, err
		}
		if passed {
			p.runs[i] = nil
			continue
		}
		if p.runs[i].Probes == 0 {
			together = append(together, row.ID)
		}
	}
	if p.steps, err = runrepo.ListedSteps(tx, a.Tenant, together); unreadable.Is(err) {
		p.steps, err = nil, nil // those of each run are read alone
	}
	return p, err
}

// run gives a run as lists show it.
func (p runsPage) run(i int) (countersign.Run, error) {
	r, err := p.withSteps(p.runs[i])
	if err != nil {
		return r, err
	}
	if err := p.names.Run(&r); err != nil {
		return r, err
	}
	return r, p.service.MaskFor(p.tx, p.actor, &r)
}

func (p runsPage) withSteps(rec *records.Run) (countersign.Run, error) {
	if rec.Steps != nil {
		return ListedRun(rec.Run), nil
	}
	r := rec.Run
	if steps, known := p.steps[r.ID]; known {
		r.Steps = steps
		return r, nil
	}
	r.Steps = []countersign.StepRun{}
	return r, runrepo.EachStep(p.tx, runrepo.Ref{Tenant: p.actor.Tenant, RunID: r.ID}, rec.Probes, func(step *countersign.StepRun) {
		r.Steps = append(r.Steps, runrepo.ListedStep(*step))
	})
}

// ListedRun is a run as lists show it, and events: without the snapshot of its plan and what
// runrepo.ListedStep leaves out (contract 1).
func ListedRun(r countersign.Run) countersign.Run {
	r.PlanSnapshot, r.Steps = nil, slices.Clone(r.Steps)
	for i, step := range r.Steps {
		r.Steps[i] = runrepo.ListedStep(step)
	}
	return r
}
