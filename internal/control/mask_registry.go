package control

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// maskFixed masks the fixed inputs of agents in the plan that is shown.
func maskFixed(shown, p *countersign.Plan) {
	shown.Agents = slices.Clone(shown.Agents)
	for i := range shown.Agents {
		ref := &shown.Agents[i]
		ref.ExecutorInputs = maskedInputs(ref.ExecutorInputs, func(capability string) *hidden { return hiddenFor(p, ref.ProjectID, capability) })
	}
}

// maskedInputs masks inputs by capability name.
func maskedInputs(inputs map[string]map[string]countersign.Value, of func(capability string) *hidden) map[string]map[string]countersign.Value {
	out := maps.Clone(inputs)
	for name, fields := range out {
		if h := of(name); h != nil {
			out[name] = h.input(fields)
		}
	}
	return out
}

// maskAgent masks an agent's fixed inputs by the present contract of its project.
func maskAgent(tx store.Tx, a Actor, ag *countersign.Agent) error {
	if !masks(a) || len(ag.ExecutorInputs) == 0 {
		return nil
	}
	p, err := contractOf(tx, a.Tenant, ag.ProjectID)
	if err == nil {
		ag.ExecutorInputs = maskedInputs(ag.ExecutorInputs, func(capability string) *hidden { return hiddenNow(p, ag.ProjectID, capability) })
	}
	return err
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
		p, err := contractOf(tx, a.Tenant, head.ProjectID)
		if err != nil {
			return err
		}
		if h := hiddenNow(p, head.ProjectID, s.Capability); h != nil {
			s.Input, s.Expectation = h.input(s.Input), h.expectation(s.Expectation)
		}
	}
	return nil
}

// contractOf returns a project's present revision in the form that hiddenFor takes.
func contractOf(tx store.Tx, tenant, projectID string) (*countersign.Plan, error) {
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
