package plan

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// Compile turns the actions of a scenario into the steps of a plan (contract 5): it
// simulates the scenario, which must pass, and makes each action on the path a step
// that depends on the previous one. Problems of the model, the scenario or the
// bindings make the plan INVALID; an unknown scenario or unfit inputs are errors, and
// nothing is stored.
func Compile(m *countersign.Model, req countersign.CompileRequest) (countersign.PlanWrite, []string, error) {
	w := countersign.PlanWrite{
		Name: req.Name, ModelID: m.ID, ModelRevision: m.Revision, Steps: []countersign.Step{},
		ScenarioID: req.ScenarioID, PlanningInputs: planningInputs(req.Inputs), Mode: req.Mode,
	}
	scenario := findScenario(&m.Document, req.ScenarioID)
	if scenario == nil {
		return w, nil, countersign.Errorf(countersign.CodeNotFound, "model %s has no scenario %s", m.ID, req.ScenarioID)
	}
	if w.Name == "" {
		w.Name = m.Document.Name + ": " + scenario.Name
	}
	machine, err := model.Compile(&m.Document)
	if err != nil {
		return w, []string{"modelId: " + message(err)}, nil
	}
	sim, visits, err := machine.Walk(req.ScenarioID, req.Inputs)
	if err != nil {
		return w, nil, err
	}
	if len(visits) > countersign.MaxPlanSteps {
		return w, nil, countersign.Invalid("scenarioId", "%s takes %d actions; a plan has at most %d steps", req.ScenarioID, len(visits), countersign.MaxPlanSteps)
	}
	problems := append(notPassed(sim), strayBindings(&m.Document, req)...)
	steps, found := compileSteps(&m.Document, req, visits)
	w.Steps = steps
	return w, append(problems, found...), nil
}

func compileSteps(doc *countersign.AgentModel, req countersign.CompileRequest, visits []model.ActionVisit) ([]countersign.Step, []string) {
	steps := []countersign.Step{}
	var problems []string
	ids := map[string]bool{}
	reported := map[string]bool{}
	for _, visit := range visits {
		binding, ok := req.ActionBindings[visit.ActionID]
		if !ok {
			if !reported[visit.ActionID] {
				problems = append(problems, fmt.Sprintf("actionBindings: action %s is on the path and has no binding", visit.ActionID))
			}
			reported[visit.ActionID] = true
			continue
		}
		step, found := compileStep(doc, visit, binding)
		if !reported[visit.ActionID] {
			problems = append(problems, found...)
		}
		reported[visit.ActionID] = true
		step.ID = uniqueStepID(visit.ActionID, ids)
		if len(steps) > 0 {
			step.DependsOn = []string{steps[len(steps)-1].ID}
		}
		steps = append(steps, step)
	}
	return steps, problems
}

func compileStep(doc *countersign.AgentModel, visit model.ActionVisit, b countersign.ActionBinding) (countersign.Step, []string) {
	step := countersign.Step{
		Name: actionName(doc, visit.ActionID), ProjectID: b.ProjectID, Capability: b.Capability,
		ActionID: visit.ActionID, Input: map[string]countersign.Value{}, Expectation: b.Expectation,
	}
	maps.Copy(step.Input, b.Input)
	var problems []string
	for _, name := range sortedKeys(b.InputVariables) {
		at := fmt.Sprintf("actionBindings.%s.inputVariables.%s", visit.ActionID, name)
		value, known := visit.Values[b.InputVariables[name]]
		literal, given := b.Input[name]
		switch {
		case given && !literal.IsNull():
			problems = append(problems, at+": the input is given literally too; keep one")
		case !known:
			problems = append(problems, fmt.Sprintf("%s: the model has no variable %s", at, b.InputVariables[name]))
		case !value.IsNull(): // an unknown value leaves the input out
			step.Input[name] = value.Value
		}
	}
	return step, problems
}

// strayBindings names bindings for actions that the model lacks; a binding for an
// action that is not on the path is ignored.
func strayBindings(doc *countersign.AgentModel, req countersign.CompileRequest) []string {
	var problems []string
	for _, id := range sortedKeys(req.ActionBindings) {
		if findAction(doc, id) == nil {
			problems = append(problems, fmt.Sprintf("actionBindings.%s: the model has no such action", id))
		}
	}
	return problems
}

func notPassed(sim countersign.Simulation) []string {
	if sim.Passed {
		return nil
	}
	problems := []string{}
	if sim.Outcome == countersign.OutcomeLoop {
		problems = append(problems, fmt.Sprintf("scenarioId: scenario %s loops and never ends", sim.ScenarioID))
	}
	for _, m := range sim.Mismatches {
		problems = append(problems, fmt.Sprintf("scenarioId: scenario %s does not pass: %s is %s, expected %s", sim.ScenarioID, m.Field, m.Actual.Raw(), m.Expected.Raw()))
	}
	return problems
}

// uniqueStepID derives a step id from an action id: rewritten if it does not match the
// id pattern, with the suffix -2, -3 … if it recurs.
func uniqueStepID(actionID string, taken map[string]bool) string {
	base := actionID
	if !countersign.ValidID(base) {
		base = rewriteID(base)
	}
	id := base
	for n := 2; taken[id]; n++ {
		suffix := "-" + strconv.Itoa(n)
		id = base[:min(len(base), countersign.MaxIDLength-len(suffix))] + suffix
	}
	taken[id] = true
	return id
}

func rewriteID(s string) string {
	id := strings.Map(func(r rune) rune {
		if r < 128 && countersign.ValidID("a"+string(r)) {
			return r
		}
		return '-'
	}, s)
	id = strings.Trim(id, "-._")
	if id == "" {
		return "action"
	}
	return id[:min(len(id), countersign.MaxIDLength)]
}

func planningInputs(inputs map[string]countersign.Scalar) map[string]countersign.Value {
	if inputs == nil {
		return nil
	}
	out := make(map[string]countersign.Value, len(inputs))
	for k, v := range inputs {
		out[k] = v.Value
	}
	return out
}

func findScenario(doc *countersign.AgentModel, id string) *countersign.Scenario {
	return find(doc.Scenarios, func(s *countersign.Scenario) bool { return s.ID == id })
}

func findAction(doc *countersign.AgentModel, id string) *countersign.Action {
	return find(doc.Actions, func(a *countersign.Action) bool { return a.ID == id })
}

// find returns the first element that matches, nil for none.
func find[T any](list []T, matches func(*T) bool) *T {
	for i := range list {
		if matches(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

func actionName(doc *countersign.AgentModel, id string) string {
	if a := findAction(doc, id); a != nil {
		return a.Name
	}
	return id
}

func message(err error) string {
	if e, ok := errors.AsType[*countersign.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
