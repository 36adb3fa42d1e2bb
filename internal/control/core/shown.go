package core

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What is masked for a VIEWER is a rule; here is read what it goes by.

// Masks reports whether sensitive fields are masked for the actor, whose only role is VIEWER then.
// All such actors see a run alike, and so do all other actors.
func Masks(a Actor) bool { return mask.ViewerOnly(a.Roles) }

// MaskFor masks the run's steps if the actor must not see them.
func (s *Core) MaskFor(tx store.Tx, a Actor, r *countersign.Run) error {
	if a.Agents != nil {
		return maskLooks(tx, a, r)
	}
	if !Masks(a) {
		return nil
	}
	p, err := s.Repo.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil {
		return err
	}
	var open []string
	if r.PlanSnapshot != nil {
		stored, err := s.Repo.ReadPlan(tx, a.Tenant, r.PlanID)
		if err != nil {
			return err
		}
		open = stored.OpenInputs
	}
	mask.Run(r, p, open)
	return nil
}

// MaskPlanFor masks a plan's steps if the actor must not see them. open names the planning
// inputs that reach no sensitive field.
func MaskPlanFor(tx store.Tx, a Actor, p *countersign.Plan, open []string) error {
	if !Masks(a) {
		return nil
	}
	whole, err := runrepo.WithProjects(tx, a.Tenant, *p)
	if err == nil {
		mask.Plan(p, mask.Of(&whole), open)
	}
	return err
}

// MaskApprovalFor masks an approval if the actor must not see it.
func (s *Core) MaskApprovalFor(tx store.Tx, a Actor, ap *countersign.Approval) error {
	if !Masks(a) {
		return nil
	}
	stored, err := s.Repo.ReadPlan(tx, a.Tenant, ap.PlanID)
	if errors.Is(err, store.ErrNotFound) {
		mask.WholeApproval(ap)
		return nil
	}
	if err != nil {
		return err
	}
	p, err := s.Repo.Plan(tx, a.Tenant, ap.PlanID, stored.PlanDigest)
	if err == nil {
		mask.Approval(ap, p)
	}
	return err
}

// MaskAgentFor masks an agent's fixed inputs and budgets if the actor must not see them.
func MaskAgentFor(tx store.Tx, a Actor, ag *countersign.Agent) error {
	if !Masks(a) || len(ag.ExecutorInputs) == 0 && len(ag.Budgets) == 0 {
		return nil
	}
	p, err := CurrentSnapshot(tx, a.Tenant, ag.ProjectID)
	if err == nil {
		mask.Agent(ag, p)
	}
	return err
}

// MaskTeamFor masks the values that a team's steps give to sensitive inputs if the actor must not
// see them.
func MaskTeamFor(tx store.Tx, a Actor, team *countersign.Team) error {
	if !Masks(a) {
		return nil
	}
	team.Steps = slices.Clone(team.Steps)
	for i := range team.Steps {
		s := &team.Steps[i]
		head, _, err := records.Agents.Get(tx, a.Tenant, s.AgentID)
		if err != nil {
			return err
		}
		p, err := CurrentSnapshot(tx, a.Tenant, head.ProjectID)
		if err != nil {
			return err
		}
		mask.TeamStep(s, p, head.ProjectID)
	}
	return nil
}

// CurrentSnapshot returns a project's present revision as the snapshot of a plan.
func CurrentSnapshot(tx store.Tx, tenant, projectID string) (*countersign.Plan, error) {
	head, _, err := records.Projects.Get(tx, tenant, projectID)
	if err != nil {
		return nil, err
	}
	p, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(projectID, head.Revision))
	if err != nil {
		return nil, err
	}
	return &countersign.Plan{ProjectSnapshots: []countersign.Project{*p}}, nil
}
