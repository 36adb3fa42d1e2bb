package plans

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ExecutorsOf reads the existing members of a team with their models and projects. It fails on
// one outside the actor's scope.
func (s *PlanService) ExecutorsOf(tx store.Tx, a core.Actor, team *countersign.Team) (plan.Executors, error) {
	c, of := plan.Executors{Team: team, Projects: map[string]plan.Source{}}, Planned{}
	seen := map[string]bool{}
	for _, m := range team.Members {
		if seen[m.AgentID] {
			continue
		}
		seen[m.AgentID] = true
		head, _, err := reach.Agent(tx, a, m.AgentID)
		if countersign.ErrorCode(err) == countersign.CodeNotFound {
			continue
		}
		if err != nil {
			return c, err
		}
		if err := s.AddExecutor(tx, a, &c, &of, head); err != nil {
			return c, err
		}
	}
	return c, checkScope("a team", slices.Collect(maps.Keys(c.Projects)))
}

// AddExecutor adds an agent, its model and its project to the executors.
func (s *PlanService) AddExecutor(tx store.Tx, a core.Actor, c *plan.Executors, of *Planned, head *records.AgentHead) error {
	e := plan.Executor{}
	var err error
	if e.Agent, err = plannedAgent(tx, a.Tenant, of, head); err != nil {
		return err
	}
	if same := slices.IndexFunc(c.Executors, func(o plan.Executor) bool { return o.Model != nil && o.Model.ID == e.Agent.ModelID }); same >= 0 {
		e.Model = c.Executors[same].Model
	} else if e.Agent.ModelID != "" {
		m, err := plannedModel(tx, a.Tenant, of, e.Agent.ModelID)
		if err != nil {
			return err
		}
		e.Model = &m
	}
	c.Executors = append(c.Executors, e)
	if _, known := c.Projects[head.ProjectID]; known {
		return nil
	}
	projectHead, _, err := records.Projects.Get(tx, a.Tenant, head.ProjectID)
	if err != nil {
		return err
	}
	p, err := plannedProject(s.Config.Allowed, tx, a.Tenant, of, *projectHead)
	c.Projects[head.ProjectID] = plan.Source{Project: &p, InScope: true}
	return err
}

// RefuseRetired refuses executors if an agent, its model or its project is retired.
func RefuseRetired(c plan.Executors) error {
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

// Admitted refuses agents that an ADMIN has not admitted, or has suspended.
func Admitted(c plan.Executors) error {
	for _, e := range c.Executors {
		if e.Agent.Status != countersign.AgentAdmitted {
			return countersign.Errorf(countersign.CodeAgentNotAdmitted, "agent %s is %s; an ADMIN admits it", e.Agent.ID, e.Agent.Status)
		}
	}
	return nil
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

// SameExecutors reports the agents, models and projects that were judged before.
func SameExecutors(a, b plan.Executors) bool {
	return slices.EqualFunc(a.Executors, b.Executors, func(x, y plan.Executor) bool {
		return x.Agent.ID == y.Agent.ID && x.Agent.Revision == y.Agent.Revision
	}) && maps.EqualFunc(a.Projects, b.Projects, func(x, y plan.Source) bool {
		return x.Project.Revision == y.Project.Revision && x.InScope == y.InScope
	})
}
