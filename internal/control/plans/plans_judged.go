package plans

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Judging is judge for a page, which fills titles and asks rules.
func (s *PlanService) Judging(ctx context.Context, a core.Actor, f func(m *cost.Meter)) error {
	return s.Judge(ctx, a, f)
}

// TakenBy is what judging the steps of a stored plan takes, mostly from memory: a plan never
// changes.
func (s *PlanService) TakenBy(ctx context.Context, a core.Actor, p *countersign.Plan) (run.Estimate, error) {
	key := plannedKey{a.Tenant, p.ID, p.PlanDigest}
	if known, ok := s.taken.Get(key); ok {
		return known, nil
	}
	var whole *countersign.Plan
	err := s.Read(ctx, func(tx store.Tx) (err error) {
		whole, err = s.Repo.Plan(tx, a.Tenant, p.ID, p.PlanDigest)
		return err
	})
	if err != nil {
		return run.Estimate{}, err
	}
	var taken run.Estimate
	if err := s.Judge(ctx, a, func(m *cost.Meter) { taken = run.Taken(m, whole, false) }); err != nil {
		return taken, err
	}
	s.taken.Put(key, taken)
	return taken, nil
}

type plannedKey struct{ tenant, id, digest string }

// WithSources is a plan with the projects that it was made from.
func WithSources(p countersign.Plan, projects map[string]plan.Source) *countersign.Plan {
	for _, ref := range p.Projects {
		if src, ok := projects[ref.ID]; ok {
			p.ProjectSnapshots = append(p.ProjectSnapshots, *src.Project)
		}
	}
	return &p
}

// MayStart compares the plan with how everything that it was made from is now. A
// retired part and a disabled project are named before flaw, what is wrong with the
// plan itself (contract 7), and drift after it.
func (s *PlanService) MayStart(tx store.Tx, tenant string, p *countersign.Plan, flaw error) error {
	now, err := s.Repo.CurrentRevisions(tx, tenant, p)
	if err != nil {
		return err
	}
	if e := plan.RetiredPart(p, now); e != nil {
		return e
	}
	if e := plan.Disabled(p, p.Mode, now); e != nil {
		return e
	}
	if flaw != nil {
		return flaw
	}
	if e := plan.Refusal(p, p.Mode, now); e != nil {
		return e
	}
	return nil
}

// KnownPlan is reachPlan, mostly without the store. The caller has asked access.Allow.
func (s *PlanService) KnownPlan(ctx context.Context, a core.Actor, id string) (rec *records.Plan, err error) {
	if rec := s.Repo.KnownPlan(a.Tenant, id); rec != nil {
		return rec, inScopeOf(a, rec)
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		rec, err = s.reachPlan(tx, a, id)
		return err
	})
	return rec, err
}
