package model

import (
	"fmt"

	"github.com/countersign/countersign"
)

// NotNamed returns what a plan says of its model and is not so (contract 12.1): a scenario
// or an action that the document doesn't have, and inputs that name no input variable or
// don't fit it.
func NotNamed(doc *countersign.AgentModel, p *countersign.Plan) []countersign.Problem {
	ix := newIndex(doc)
	var problems []countersign.Problem
	if _, there := ix.scenarios[p.ScenarioID]; p.ScenarioID != "" && !there {
		problems = append(problems, countersign.Problem{Path: "scenarioId", Message: "the model has no scenario " + quoted(p.ScenarioID)})
	}
	inputs := make(map[string]countersign.Scalar, len(p.PlanningInputs))
	for id, v := range p.PlanningInputs {
		inputs[id] = countersign.Scalar{Value: v}
	}
	for _, misfit := range ix.misfits(countersign.VariableInput, inputs) {
		misfit.Path = "planningInputs." + misfit.Path
		problems = append(problems, misfit)
	}
	for i := range p.Steps {
		id := p.Steps[i].ActionID
		if _, there := ix.actions[id]; id != "" && !there {
			problems = append(problems, countersign.Problem{Path: fmt.Sprintf("steps[%d].actionId", i), Message: "the model has no action " + quoted(id)})
		}
	}
	return problems
}
