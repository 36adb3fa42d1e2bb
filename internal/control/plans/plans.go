// Package plans holds the use cases of plans, and gathers and judges what plans and runs are made of.
package plans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// PlanService is the use cases of plans, and what of them runs and teams need.
type PlanService struct {
	*core.Core
	taken *cache.Cache[plannedKey, run.Estimate]
}

// cachedEstimates is of how many plans it is known what judging their steps takes.
const cachedEstimates = 1024

// NewPlans returns the use cases.
func NewPlans(c *core.Core) *PlanService {
	return &PlanService{Core: c, taken: cache.New[plannedKey, run.Estimate](cachedEstimates)}
}

// PlanFilter narrows a listing of plans; empty fields do not.
type PlanFilter struct{ Status, ModelID string }

// Plans lists the plans within the actor's scope, newest first, without
// snapshots.
func (s *PlanService) Plans(ctx context.Context, a core.Actor, l core.List, f PlanFilter) (countersign.Page[countersign.Plan], error) {
	return ListPlans(ctx, s, a, l, f, core.Whole)
}

// ListPlans is Plans of what show makes of each: a page has up to 200 plans of a
// mebibyte, of which few are in memory at a time.
func ListPlans[T any](ctx context.Context, s *PlanService, a core.Actor, l core.List, f PlanFilter, show func(countersign.Plan) (T, error)) (page countersign.Page[T], err error) {
	err = s.View(ctx, a, access.ReadPlans, func(tx store.Tx) error {
		where, err := records.InScope(tx, store.Plans, a.Principal)
		if err != nil {
			return err
		}
		where = append(where, core.Equals(map[string]string{"status": f.Status, "model": f.ModelID})...)
		q := l.Query(core.NewestFirst, where...)
		names := names.In(tx, a.Tenant)
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Plans, l, q, func(p *records.Plan) (shown T, err error) {
			if err := core.MaskPlanFor(tx, a, &p.Plan, p.OpenInputs); err != nil {
				return shown, err
			}
			if p.CreatedByName, err = names.Of(p.CreatedBy); err != nil {
				return shown, err
			}
			return show(p.Plan)
		})
		return err
	})
	return page, err
}

// Plan reads one plan with the snapshots of its model and projects.
func (s *PlanService) Plan(ctx context.Context, a core.Actor, id string) (p countersign.Plan, err error) {
	err = s.View(ctx, a, access.ReadPlans, func(tx store.Tx) error {
		rec, err := s.reachPlan(tx, a, id)
		if err != nil {
			return err
		}
		if p, err = snapshot(tx, a.Tenant, rec.Plan); err != nil {
			return err
		}
		return core.MaskPlanFor(tx, a, &p, rec.OpenInputs)
	})
	return p, err
}

// reachPlan reads a plan, in a View. It must not be changed.
func (s *PlanService) reachPlan(tx store.Tx, a core.Actor, id string) (*records.Plan, error) {
	rec, err := s.Repo.ReadPlan(tx, a.Tenant, id)
	if err != nil {
		return nil, core.Found(err, "plan", id)
	}
	return rec, inScopeOf(a, rec)
}

func inScopeOf(a core.Actor, rec *records.Plan) error {
	return access.InScope(a.Principal, records.ProjectsOf(&rec.Plan)...)
}

// snapshot adds the immutable revisions that a plan refers to. An INVALID plan
// may refer to a model that there never was.
func snapshot(tx store.Tx, tenant string, p countersign.Plan) (countersign.Plan, error) {
	p, _, err := WithModels(tx, tenant, p)
	if err != nil {
		return p, err
	}
	return runrepo.WithProjects(tx, tenant, p)
}

// WithModels adds the revisions of the models that a plan refers to, and gives the size
// of their documents.
func WithModels(tx store.Tx, tenant string, p countersign.Plan) (_ countersign.Plan, size int, err error) {
	m, size, err := modelAt(tx, tenant, p.ModelID, p.ModelRevision)
	if err == nil {
		p.ModelSnapshot = &m
	} else if !errors.Is(err, store.ErrNotFound) {
		return p, 0, err
	}
	p.Models = nil
	for _, a := range p.Agents {
		if a.ModelID == "" || slices.ContainsFunc(p.Models, func(m countersign.Model) bool { return m.ID == a.ModelID }) {
			continue
		}
		m, n, err := modelAt(tx, tenant, a.ModelID, a.ModelRevision)
		if err != nil {
			return p, 0, fmt.Errorf("model of agent %s: %w", a.ID, err)
		}
		p.Models, size = append(p.Models, m), size+n
	}
	return p, size, nil
}

// modelAt reads an immutable revision of a model, neither suspended nor retired as it was
// when a plan was made of it, and the size of its document.
func modelAt(tx store.Tx, tenant, id string, rev int64) (m countersign.Model, size int, err error) {
	row, err := tx.Get(store.ModelRevisions, tenant, records.RevisionID(id, rev))
	if err != nil {
		return m, 0, err
	}
	var r records.ModelRevision
	if err := records.Decode(row, &r); err != nil {
		return m, 0, err
	}
	head := r.Head
	if r.Document == nil { // the revision of a suspension
		if row, err = tx.Get(store.ModelRevisions, tenant, records.RevisionID(head.ID, head.DocumentRevision)); err != nil {
			return m, 0, fmt.Errorf("document of model %s: %w", id, err)
		}
		if err := records.Decode(row, &r); err != nil {
			return m, 0, err
		}
	}
	head.Suspended, head.Retired = false, false
	return reach.AssembleModel(head, *r.Document), len(row.Doc), nil
}

// Drift compares everything that a plan was made from with how it is now.
func (s *PlanService) Drift(ctx context.Context, a core.Actor, id string) (d countersign.Drift, err error) {
	err = s.View(ctx, a, access.ReadPlans, func(tx store.Tx) error {
		rec, err := s.reachPlan(tx, a, id)
		if err != nil {
			return err
		}
		now, err := s.Repo.CurrentRevisions(tx, a.Tenant, &rec.Plan)
		d = plan.Drift(&rec.Plan, now)
		return err
	})
	return d, err
}

// CreatePlan stores a plan that its maker wrote: READY, or INVALID with all that
// is wrong with it (specification 2.9).
func (s *PlanService) CreatePlan(ctx context.Context, a core.Actor, w countersign.PlanWrite) (countersign.Plan, error) {
	if err := core.WellFormed(a, w); err != nil {
		return countersign.Plan{}, err
	}
	if w.Mode == "" {
		w.Mode = countersign.ModeDryRun
	}
	ids := make([]string, len(w.Steps))
	for i := range w.Steps {
		ids[i] = w.Steps[i].ID
	}
	made, err := s.makePlan(ctx, a, access.CreatePlan, w.ModelID, func(m *countersign.Model) (countersign.PlanWrite, []string, error) {
		if err := core.Invalid(plan.CheckIDs(ids)); err != nil {
			return w, nil, err
		}
		return w, modelErrors(m), nil
	})
	if err != nil {
		return countersign.Plan{}, err
	}
	w.Steps = made.Steps // as they are kept
	return s.storePlan(ctx, a, access.CreatePlan, records.Plan{Plan: made}, &w)
}

// modelErrors are those of a model with the revision that a plan would be of.
func modelErrors(m *countersign.Model) []string {
	if m == nil {
		return nil
	}
	if _, err := model.Compile(&m.Document); err != nil {
		var e *countersign.Error
		if errors.As(err, &e) {
			return []string{"modelId: " + e.Message}
		}
	}
	return nil
}

// CompilePlan makes a plan of a model's scenario (contract 5).
func (s *PlanService) CompilePlan(ctx context.Context, a core.Actor, modelID string, req countersign.CompileRequest) (countersign.Plan, error) {
	if err := core.WellFormed(a, req); err != nil {
		return countersign.Plan{}, err
	}
	made, err := s.makePlan(ctx, a, access.CompilePlan, modelID, func(m *countersign.Model) (countersign.PlanWrite, []string, error) {
		if m == nil {
			return countersign.PlanWrite{}, nil, countersign.Errorf(countersign.CodeNotFound, "there is no model %s", modelID)
		}
		return plan.Compile(m, req)
	})
	if err != nil {
		return countersign.Plan{}, err
	}
	stored := records.Plan{Plan: made}
	err = s.Read(ctx, func(tx store.Tx) error {
		whole, err := runrepo.WithProjects(tx, a.Tenant, made)
		stored.OpenInputs = mask.OpenInputs(&whole, req.ActionBindings)
		return err
	})
	if err != nil {
		return countersign.Plan{}, err
	}
	return s.storePlan(ctx, a, access.CompilePlan, stored, nil)
}

// makePlan makes a plan of what is stored at this moment, outside any write: what changes
// afterwards is drift, as it is for every plan. write says what is to be planned of the model.
func (s *PlanService) makePlan(ctx context.Context, a core.Actor, op access.Operation, modelID string,
	write func(*countersign.Model) (countersign.PlanWrite, []string, error)) (countersign.Plan, error) {
	made, err := s.planFrom(ctx, a, op, modelID, write)
	subject := "plan"
	if countersign.ValidID(modelID) {
		subject = "model/" + modelID
	}
	return made, s.Refuse(ctx, a, op, subject, err)
}

func (s *PlanService) planFrom(ctx context.Context, a core.Actor, op access.Operation, modelID string,
	write func(*countersign.Model) (countersign.PlanWrite, []string, error)) (made countersign.Plan, err error) {
	var present *countersign.Model
	var of Planned
	err = s.View(ctx, a, op, func(tx store.Tx) (err error) { // perhaps more than once
		of = Planned{}
		present, err = modelToPlan(tx, a, &of, modelID)
		return err
	})
	if err != nil {
		return made, err
	}
	var w countersign.PlanWrite
	var problems []string
	if busy := s.Compute(ctx, a.Tenant, func() { w, problems, err = write(present) }); cmp.Or(busy, err) != nil {
		return made, cmp.Or(busy, err)
	}
	var src plan.Sources
	err = s.Read(ctx, func(tx store.Tx) error {
		src, err = s.sources(tx, a, of, present, w.Steps)
		if err == nil {
			err = projectsInUse(src.Projects)
		}
		return err
	})
	if err == nil {
		err = checkScope("a plan", slices.Collect(maps.Keys(src.Projects)))
	}
	if err != nil {
		return made, err
	}
	if w.Mode == countersign.ModeLive {
		if err := access.Mode(a.Principal, w.Mode); err != nil {
			return made, err
		}
	}
	if w.ID == "" {
		w.ID = s.Config.NewID("plan")
	}
	o := plan.Creation{By: a.ID, Now: s.Config.Now()}
	err = s.Judge(ctx, a, func(m *cost.Meter) {
		o.Meter = m
		if made = plan.New(w, src, problems, o); made.Status == countersign.PlanReady && !m.Over() {
			run.Taken(m, WithSources(made, src.Projects), true) // a run of it must be able to start
		}
	})
	return made, err
}

// modelToPlan is the model as it is; nil if there is none.
func modelToPlan(tx store.Tx, a core.Actor, of *Planned, modelID string) (*countersign.Model, error) {
	m, err := plannedModel(tx, a.Tenant, of, modelID)
	switch {
	case countersign.ErrorCode(err) == countersign.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case m.Retired:
		return nil, plan.Retired(plan.KindModel, modelID)
	}
	return &m, nil
}

// sources reads the projects that the steps name. of is what was read of the plan before.
func (s *PlanService) sources(tx store.Tx, a core.Actor, of Planned, m *countersign.Model, steps []countersign.Step) (plan.Sources, error) {
	src := plan.Sources{Model: m, Projects: map[string]plan.Source{}}
	for _, step := range steps {
		if _, seen := src.Projects[step.ProjectID]; seen {
			continue
		}
		head, _, err := records.Projects.Get(tx, a.Tenant, step.ProjectID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return src, err
		}
		p, err := plannedProject(s.Config.Allowed, tx, a.Tenant, &of, *head)
		if err != nil {
			return src, err
		}
		src.Projects[step.ProjectID] = plan.Source{Project: &p, InScope: a.Covers(p.ID)}
	}
	return src, nil
}

// storePlan stores a plan that makePlan has just made. An id that is taken already is answered with the
// stored plan if w asks for the same content, else with a state_conflict.
func (s *PlanService) storePlan(ctx context.Context, a core.Actor, op access.Operation, made records.Plan, w *countersign.PlanWrite) (p countersign.Plan, err error) {
	subject := "plan/" + made.ID
	err = s.UpdateInTurn(ctx, a, op, subject, func(tx store.Tx) error {
		stored, _, err := records.Plans.Get(tx, a.Tenant, made.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			if _, err := records.Plans.Put(tx, a.Tenant, made.ID, &made, 0); err != nil {
				return err
			}
			p = made.Plan
			return s.auditPlan(tx, a, op, made.Plan)
		case err != nil:
			return err
		case w == nil || !a.Covers(records.ProjectsOf(&stored.Plan)...) || !plan.SameContent(&stored.Plan, *w):
			return countersign.Errorf(countersign.CodeStateConflict, "there is a plan %s with other content; choose another id or none", made.ID)
		}
		p = stored.Plan
		return nil
	})
	if err != nil {
		return p, err
	}
	whole := p
	err = s.Read(context.WithoutCancel(ctx), func(tx store.Tx) error {
		whole, err = snapshot(tx, a.Tenant, p)
		return err
	})
	if s.IsMade(a, subject, err) {
		return p, nil // it is stored; the answer lacks the snapshots
	}
	return whole, err
}

func (s *PlanService) auditPlan(tx store.Tx, a core.Actor, op access.Operation, p countersign.Plan) error {
	rec := s.Record(a, op, "plan/"+p.ID)
	rec.After, rec.Digest, rec.Salt = p.Status, p.PlanDigest, s.Repo.Salt()
	crashpoint.At("control.written", op)
	return core.AppendAudit(tx, a.Tenant, rec)
}
