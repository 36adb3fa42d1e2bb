package control

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What is retired is hidden from lists, and no new plan, run, team or manifest entry can use
// it. It can still be read; nothing is deleted. Like suspending, retiring raises the
// revision of a model, agent or team, so that earlier plans never run again. A project
// can't be retired while unfinished runs use it.

// RetireModel retires a model.
func (s *Service) RetireModel(ctx context.Context, a Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RetireModel, id, reason)
}

// RestoreModel ends the retirement of a model. It keeps the revision.
func (s *Service) RestoreModel(ctx context.Context, a Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RestoreModel, id, reason)
}

// RetireAgent retires an agent. It doesn't stop the agent's own process, whose heartbeats
// are still recorded.
func (s *Service) RetireAgent(ctx context.Context, a Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RetireAgent, id, countersign.Admission{Reason: reason})
}

// RestoreAgent ends the retirement of an agent, which is admitted if it was before.
func (s *Service) RestoreAgent(ctx context.Context, a Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RestoreAgent, id, countersign.Admission{Reason: reason})
}

// RetireTeam retires a team.
func (s *Service) RetireTeam(ctx context.Context, a Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RetireTeam, id, reason)
}

// RestoreTeam ends the retirement of a team. It keeps the revision.
func (s *Service) RestoreTeam(ctx context.Context, a Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RestoreTeam, id, reason)
}

// RetireProject retires a project that no unfinished run uses, and disables it.
func (s *Service) RetireProject(ctx context.Context, a Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RetireProject, id, reason)
}

// RestoreProject ends the retirement of a project, which stays disabled.
func (s *Service) RestoreProject(ctx context.Context, a Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RestoreProject, id, reason)
}

func (s *Service) moveProject(ctx context.Context, a Actor, op access.Operation, id, reason string) (p countersign.Project, err error) {
	if err := given("reason", reason); err != nil {
		return p, err
	}
	err = whileMoved(func() error {
		seen, err := s.useToRetire(ctx, a, op, id)
		if err != nil {
			return err
		}
		return s.updateInTurn(ctx, a, op, "project/"+id, func(tx store.Tx) error {
			head, version, err := reachProject(tx, a, id)
			if err != nil {
				return err
			}
			if head.Retired != (op == access.RetireProject) {
				if err := s.retireProject(tx, a, op, head, version, reason, seen); err != nil {
					return err
				}
			}
			p, err = s.shownProject(tx, a.Tenant, *head)
			return err
		})
	})
	return p, err
}

// useToRetire looks at the use of a project that is to be retired. What speaks against the
// request is for the turn to say.
func (s *Service) useToRetire(ctx context.Context, a Actor, op access.Operation, id string) (seen seenUse, err error) {
	if op != access.RetireProject || access.Allow(a.Principal, op) != nil || access.InScope(a.Principal, id) != nil {
		return seen, nil
	}
	err = s.look(ctx, a, func(tx store.Tx) (err error) {
		seen, err = seeUse(tx, a, id)
		return err
	})
	return seen, err
}

func (s *Service) retireProject(tx store.Tx, a Actor, op access.Operation, h *records.ProjectHead, version int64, reason string, seen seenUse) error {
	if op == access.RetireProject {
		if err := seen.refuse(tx, a, h.ID); err != nil {
			return err
		}
	}
	c := change{before: projectRevisionText(h), reason: reason}
	h.Retired, h.Enabled, h.UpdatedAt = op == access.RetireProject, false, s.cfg.Now()
	if _, err := records.Projects.Put(tx, a.Tenant, h.ID, h, version); err != nil {
		return err
	}
	c.after = projectRevisionText(h)
	return s.audit(tx, a, op, "project/"+h.ID, c)
}

func projectRevisionText(h *records.ProjectHead) string {
	if h.Retired {
		return "retired"
	}
	return enabledText(h.Enabled)
}

// projectsInUse refuses a plan with a retired project. It doesn't mention projects outside
// the actor's scope.
func projectsInUse(projects map[string]plan.Source) error {
	for _, id := range slices.Sorted(maps.Keys(projects)) {
		if src := projects[id]; src.InScope && src.Project.Retired {
			return plan.Retired(plan.KindProject, id)
		}
	}
	return nil
}

// refuseRetired refuses executors if an agent, its model or its project is retired.
func refuseRetired(c plan.Executors) error {
	for _, e := range c.Executors {
		if e.Agent.Retired {
			return plan.Retired(plan.KindAgent, e.Agent.ID)
		}
		if e.Model != nil && e.Model.Retired {
			return plan.Retired(plan.KindModel, e.Model.ID)
		}
	}
	return projectsInUse(c.Projects)
}

// syncInUse refuses a manifest that changes a retired agent, or that newly names a retired
// model. A back end that sends the same manifest as before is not refused.
func syncInUse(changes []agentChange, f registry.Facts) error {
	for _, c := range changes {
		switch {
		case !c.is:
		case c.was != nil && c.was.Retired:
			return plan.Retired(plan.KindAgent, c.was.ID)
		case f.Models[c.next.ModelID].Retired:
			return plan.Retired(plan.KindModel, c.next.ModelID)
		}
	}
	return nil
}
