package mask

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// maskExecutorInputs masks the fixed inputs of agents in the plan that is shown.
func maskExecutorInputs(shown, p *countersign.Plan) {
	shown.Agents = slices.Clone(shown.Agents)
	for i := range shown.Agents {
		ref := &shown.Agents[i]
		ref.ExecutorInputs = maskedInputs(ref.ExecutorInputs, func(capability string) *Fields { return fieldsOf(p, ref.ProjectID, capability) })
	}
}

// maskedInputs masks inputs by capability name.
func maskedInputs(inputs map[string]map[string]countersign.Value, of func(capability string) *Fields) map[string]map[string]countersign.Value {
	out := maps.Clone(inputs)
	for name, fields := range out {
		if h := of(name); h != nil {
			out[name] = h.input(fields)
		}
	}
	return out
}

// Agent masks an agent's fixed inputs, and budgets of sensitive ones, by the present
// contract of its project, which p has as its snapshot.
func Agent(ag *countersign.Agent, p *countersign.Plan) {
	of := func(capability string) *Fields { return currentFieldsOf(p, ag.ProjectID, capability) }
	ag.ExecutorInputs = maskedInputs(ag.ExecutorInputs, of)
	ag.Budgets = maskBudgets(ag.Budgets, func(b countersign.Budget) bool {
		return slices.ContainsFunc(ag.Capabilities, func(capability string) bool { h := of(capability); return h != nil && h.adds(b) })
	})
}

// Project masks what a project expects of sensitive fields, and what its rules and budgets
// compare them with: a step that met it, or of which one held, tells their values.
func Project(p *countersign.Project) {
	p.Capabilities = slices.Clone(p.Capabilities)
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		h := &Fields{project: p, capability: c, names: namesOf(sensitiveOf(p, c))}
		c.Expectation = h.expectation(c.Expectation)
		c.Precondition = h.precondition(c.Precondition)
		c.ApprovalRules, c.Budgets = h.rules(c.ApprovalRules), h.budgets(c.Budgets)
	}
}

// TeamStep masks the values that a step of a team gives to sensitive inputs, by the present
// contract of its agent's project, which p has as its snapshot.
func TeamStep(s *countersign.TeamStep, p *countersign.Plan, projectID string) {
	if h := currentFieldsOf(p, projectID, s.Capability); h != nil {
		s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
	}
}
