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

// What is retired is hidden from lists and nothing new is made of it: no plan, no
// run, no team, nothing from a manifest. It can be read, and nothing is deleted.
// Retiring raises the revision where suspending does, so that plans made before
// never run again; a project has unfinished runs or can be retired.

// RetireModel retires a model.
func (s *Service) RetireModel(ctx context.Context, a Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RetireModel, id, reason)
}

// RestoreModel brings it back, at the revision that retiring made.
func (s *Service) RestoreModel(ctx context.Context, a Actor, id, reason string) (countersign.Model, error) {
	return s.moveModel(ctx, a, access.RestoreModel, id, reason)
}

// RetireAgent retires an agent. It doesn't stop a process at the source, whose
// heartbeats stay welcome.
func (s *Service) RetireAgent(ctx context.Context, a Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RetireAgent, id, countersign.Admission{Reason: reason})
}

// RestoreAgent brings it back, admitted if it was.
func (s *Service) RestoreAgent(ctx context.Context, a Actor, id, reason string) (countersign.Agent, error) {
	return s.moveAgent(ctx, a, access.RestoreAgent, id, countersign.Admission{Reason: reason})
}

// RetireTeam retires a team.
func (s *Service) RetireTeam(ctx context.Context, a Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RetireTeam, id, reason)
}

// RestoreTeam brings it back, at the revision that retiring made.
func (s *Service) RestoreTeam(ctx context.Context, a Actor, id, reason string) (countersign.Team, error) {
	return s.toggleTeam(ctx, a, access.RestoreTeam, id, reason)
}

// RetireProject retires a project that no unfinished run uses, and disables it.
func (s *Service) RetireProject(ctx context.Context, a Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RetireProject, id, reason)
}

// RestoreProject brings it back, disabled.
func (s *Service) RestoreProject(ctx context.Context, a Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RestoreProject, id, reason)
}

func (s *Service) moveProject(ctx context.Context, a Actor, op access.Operation, id, reason string) (p countersign.Project, err error) {
	if err := given("reason", reason); err != nil {
		return p, err
	}
	err = s.update(ctx, a, op, "project/"+id, func(tx store.Tx) error {
		head, version, err := reachProject(tx, a, id)
		if err != nil {
			return err
		}
		if head.Retired != (op == access.RetireProject) {
			if err := s.retireProject(tx, a, op, head, version, reason); err != nil {
				return err
			}
		}
		p, err = s.shownProject(tx, a.Tenant, *head)
		return err
	})
	return p, err
}

func (s *Service) retireProject(tx store.Tx, a Actor, op access.Operation, h *records.ProjectHead, version int64, reason string) error {
	if op == access.RetireProject {
		if err := inUse(tx, a, h.ID); err != nil {
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
	return enabledWord(h.Enabled)
}

// projectsInUse refuses a plan on a retired project. Of one that the actor doesn't
// reach, nothing is said.
func projectsInUse(projects map[string]plan.Source) error {
	for _, id := range slices.Sorted(maps.Keys(projects)) {
		if src := projects[id]; src.InScope && src.Project.Retired {
			return plan.Retired(plan.KindProject, id)
		}
	}
	return nil
}

// crewInUse refuses whoever is retired, with a retired model or of a retired system.
func crewInUse(c plan.Executors) error {
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

// syncInUse refuses a manifest that changes a retired agent or names a retired model
// anew. A back end that still sends what it sent before is not refused for it.
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
