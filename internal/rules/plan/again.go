package plan

import (
	"github.com/countersign/countersign"
)

// Again is a run started anew with other inputs: by its plan's steps, stored as a plan of
// their own, or by the agent, the team or the single call that made its plan. One of the
// four is set.
type Again struct {
	Plan  *countersign.PlanWrite
	Agent *countersign.AgentRunStart
	Team  *countersign.TeamRunStart
	Call  *countersign.ProjectRunStart

	// ID is the agent, the team or the project; "" for a plan, whose id is its maker's choice.
	ID string
}

// Inputs are the literal inputs of each step that a caller may choose, by step id and in
// copies: neither those that a manifest fixes nor those that an earlier step brings.
func Inputs(p *countersign.Plan) map[string]map[string]countersign.Value {
	out := map[string]map[string]countersign.Value{}
	for i := range p.Steps {
		s := &p.Steps[i]
		own := merge(s.Input)
		for name := range Fixed(p, s) {
			delete(own, name)
		}
		out[s.ID] = own
	}
	return out
}

// Fixed are the inputs of a step that its agent's manifest fixes.
func Fixed(p *countersign.Plan, s *countersign.Step) map[string]countersign.Value {
	for i := range p.Agents {
		if p.Agents[i].ID == s.AgentID {
			return p.Agents[i].ExecutorInputs[s.Capability]
		}
	}
	return nil
}

// OfRun says how to start a run of the same plan with these inputs, by step id; a step
// that is absent keeps its own. revision is the present one of the model, the agent or the
// team.
func OfRun(p *countersign.Plan, inputs map[string]map[string]countersign.Value, revision int64, reason string) Again {
	all := Inputs(p)
	for id, own := range inputs {
		all[id] = own
	}
	switch {
	case p.Team != nil:
		return Again{ID: p.Team.ID, Team: &countersign.TeamRunStart{ExpectedRevision: revision, Mode: p.Mode, Inputs: all, Reason: reason}}
	case len(p.Agents) > 0:
		s := &p.Steps[0]
		return Again{ID: p.Agents[0].ID, Agent: &countersign.AgentRunStart{
			ExpectedRevision: revision, Mode: p.Mode, Capability: s.Capability, Inputs: all[s.ID], Expectation: s.Expectation, Reason: reason,
		}}
	case p.ModelID == "":
		s := &p.Steps[0]
		return Again{ID: s.ProjectID, Call: &countersign.ProjectRunStart{
			Capability: s.Capability, Mode: p.Mode, Inputs: all[s.ID], Expectation: s.Expectation, Reason: reason,
		}}
	}
	w := &countersign.PlanWrite{
		Name: p.Name, ModelID: p.ModelID, ModelRevision: revision, ScenarioID: p.ScenarioID, PlanningInputs: p.PlanningInputs, Mode: p.Mode,
		Steps: make([]countersign.Step, len(p.Steps)),
	}
	for i, s := range p.Steps {
		s.Input = all[s.ID]
		w.Steps[i] = s
	}
	return Again{Plan: w}
}
