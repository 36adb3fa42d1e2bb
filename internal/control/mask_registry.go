package control

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// maskExecutorInputs masks the fixed inputs of agents in the plan that is shown.
func maskExecutorInputs(shown, p *countersign.Plan) {
	shown.Agents = slices.Clone(shown.Agents)
	for i := range shown.Agents {
		ref := &shown.Agents[i]
		ref.ExecutorInputs = maskedInputs(ref.ExecutorInputs, func(capability string) *fieldMask { return fieldMaskOf(p, ref.ProjectID, capability) })
	}
}

// maskedInputs masks inputs by capability name.
func maskedInputs(inputs map[string]map[string]countersign.Value, of func(capability string) *fieldMask) map[string]map[string]countersign.Value {
	out := maps.Clone(inputs)
	for name, fields := range out {
		if h := of(name); h != nil {
			out[name] = h.input(fields)
		}
	}
	return out
}

// maskAgent masks an agent's fixed inputs, and budgets of sensitive ones, by the present
// contract of its project.
func maskAgent(tx store.Tx, a Actor, ag *countersign.Agent) error {
	if !masks(a) || len(ag.ExecutorInputs) == 0 && len(ag.Budgets) == 0 {
		return nil
	}
	p, err := currentSnapshot(tx, a.Tenant, ag.ProjectID)
	if err != nil {
		return err
	}
	of := func(capability string) *fieldMask { return currentFieldMaskOf(p, ag.ProjectID, capability) }
	ag.ExecutorInputs = maskedInputs(ag.ExecutorInputs, of)
	ag.Budgets = maskBudgets(ag.Budgets, func(b countersign.Budget) bool {
		return slices.ContainsFunc(ag.Capabilities, func(capability string) bool { h := of(capability); return h != nil && h.adds(b) })
	})
	return nil
}

// maskProject masks what a project expects of sensitive fields, and what its rules and budgets
// compare them with: a step that met it, or of which one held, tells their values.
func maskProject(a Actor, p *countersign.Project) {
	if masks(a) {
		maskCapabilities(p)
	}
}

func maskCapabilities(p *countersign.Project) {
	p.Capabilities = slices.Clone(p.Capabilities)
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		h := &fieldMask{project: p, capability: c, names: namesOf(sensitiveOf(p, c))}
		c.Expectation = h.expectation(c.Expectation)
		c.ApprovalRules, c.Budgets = h.rules(c.ApprovalRules), h.budgets(c.Budgets)
	}
}

// maskTeam masks the values that a team's steps give to sensitive inputs.
func maskTeam(tx store.Tx, a Actor, team *countersign.Team) error {
	if !masks(a) {
		return nil
	}
	team.Steps = slices.Clone(team.Steps)
	for i := range team.Steps {
		s := &team.Steps[i]
		head, _, err := records.Agents.Get(tx, a.Tenant, s.AgentID)
		if err != nil {
			return err
		}
		p, err := currentSnapshot(tx, a.Tenant, head.ProjectID)
		if err != nil {
			return err
		}
		if h := currentFieldMaskOf(p, head.ProjectID, s.Capability); h != nil {
			s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
		}
	}
	return nil
}

// currentSnapshot returns a project's present revision in the form that fieldMaskOf takes.
func currentSnapshot(tx store.Tx, tenant, projectID string) (*countersign.Plan, error) {
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
