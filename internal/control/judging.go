package control

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/store"
)

// What a request asks to be judged is judged between the store's reads and its turn to write,
// never within them: what it is judged by is read first, and the turn to write sees that it is
// still the same.

// judge has f judge with the request's meter. f may be called twice.
func (s *Service) judge(ctx context.Context, a Actor, f func(m *cost.Meter)) error {
	return public(s.runs.Judge(ctx, a.Tenant, f))
}

// Judging is judge for a page, which fills titles and asks rules.
func (s *Service) Judging(ctx context.Context, a Actor, f func(m *cost.Meter)) error {
	return s.judge(ctx, a, f)
}

// errMoved says that what was judged has changed before the turn to write.
var errMoved = countersign.Errorf(countersign.CodeUnavailable, "what this is judged by changes all the time; nothing was changed, try again")

// triedAtMost is how often something is judged anew because it has changed.
const triedAtMost = 3

// whileMoved repeats f, which judges and writes, while it finds that something has changed.
func whileMoved(f func() error) (err error) {
	for range triedAtMost {
		if err = f(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// takenBy is what judging the steps of a stored plan takes, mostly from memory: a plan never
// changes.
func (s *Service) takenBy(ctx context.Context, a Actor, p *countersign.Plan) (run.Estimate, error) {
	key := plannedKey{a.Tenant, p.ID, p.PlanDigest}
	if known, ok := s.taken.Get(key); ok {
		return known, nil
	}
	var whole *countersign.Plan
	err := s.read(ctx, func(tx store.Tx) (err error) {
		whole, err = s.runs.Plan(tx, a.Tenant, p.ID, p.PlanDigest)
		return err
	})
	if err != nil {
		return run.Estimate{}, err
	}
	var taken run.Estimate
	if err := s.judge(ctx, a, func(m *cost.Meter) { taken = run.Taken(m, whole, false) }); err != nil {
		return taken, err
	}
	s.taken.Put(key, taken)
	return taken, nil
}

type plannedKey struct{ tenant, id, digest string }

// withSources is a plan with the projects that it was made from.
func withSources(p countersign.Plan, projects map[string]plan.Source) *countersign.Plan {
	for _, ref := range p.Projects {
		if src, ok := projects[ref.ID]; ok {
			p.ProjectSnapshots = append(p.ProjectSnapshots, *src.Project)
		}
	}
	return &p
}

// sameExecutors reports the agents, models and projects that were judged before.
func sameExecutors(a, b plan.Executors) bool {
	return slices.EqualFunc(a.Executors, b.Executors, func(x, y plan.Executor) bool {
		return x.Agent.ID == y.Agent.ID && x.Agent.Revision == y.Agent.Revision
	}) && maps.EqualFunc(a.Projects, b.Projects, func(x, y plan.Source) bool {
		return x.Project.Revision == y.Project.Revision && x.InScope == y.InScope
	})
}

// judgedManifest is a manifest with its problems by some facts.
type judgedManifest struct {
	*countersign.Manifest
	facts    registry.Facts
	problems []countersign.Problem
}

// by gives the problems if these are the facts that they were found by.
func (j judgedManifest) by(f registry.Facts) error {
	if f.Project.Revision != j.facts.Project.Revision || !maps.Equal(f.Models, j.facts.Models) {
		return errMoved
	}
	return wrong(j.problems)
}

// judgeManifest checks a manifest.
func (s *Service) judgeManifest(ctx context.Context, a Actor, projectID string, m *countersign.Manifest) (judgedManifest, error) {
	j := judgedManifest{Manifest: m}
	err := s.read(ctx, func(tx store.Tx) (err error) {
		j.facts, err = manifestFacts(tx, a, projectID, m)
		return err
	})
	if err != nil {
		return j, err
	}
	err = s.judge(ctx, a, func(m *cost.Meter) {
		facts := j.facts
		facts.Meter = m
		j.problems = registry.Check(j.Manifest, facts)
	})
	return j, err
}

// judgedSuggestion says whether suggested inputs fit the step of an approval.
type judgedSuggestion struct {
	judged bool
	unfit  error // why they don't
}

// judgeSuggestion checks suggested inputs: an approval's run, plan and step never change.
// Whether the actor may decide it is for the turn to write to say, which comes first.
func (s *Service) judgeSuggestion(ctx context.Context, a Actor, id string, suggested map[string]countersign.Value) (j judgedSuggestion, err error) {
	if suggested == nil {
		return j, nil
	}
	var p *countersign.Plan
	var stepID string
	err = s.view(ctx, a, access.DecideApproval, func(tx store.Tx) error {
		rec, err := reachApproval(tx, a, id)
		if err != nil {
			return err
		}
		of, err := reachRun(tx, a, rec.RunID)
		if err != nil {
			return err
		}
		stepID = rec.StepID
		p, err = s.runs.Plan(tx, a.Tenant, of.PlanID, of.PlanDigest)
		return err
	})
	if err != nil {
		return j, refusedLater(err)
	}
	err = s.judge(ctx, a, func(m *cost.Meter) { j = judgedSuggestion{true, run.JudgeSuggestion(m, p, stepID, suggested)} })
	if countersign.ErrorCode(err) == countersign.CodeInvalidRequest {
		j.unfit, err = err, nil
	}
	return j, err
}
