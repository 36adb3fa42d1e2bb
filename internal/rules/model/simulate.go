package model

import (
	"github.com/countersign/countersign"
)

// ActionVisit is an action on a scenario's path, with the values of all variables
// before the action's own effects: what a plan's inputVariables read (contract
// 5). null is unknown.
type ActionVisit struct {
	ActionID     string
	TransitionID string
	Values       map[string]countersign.Scalar
}

// Simulate runs a scenario (contract 4): exactly, with every step in the answer. An
// unknown scenario is not_found; unknown or unfit inputs are an invalid_request that
// names all of them, and so is a scenario beyond the machine's Limit.
func (m *Machine) Simulate(scenarioID string, inputs map[string]countersign.Scalar) (countersign.Simulation, error) {
	r, err := m.simulate(scenarioID, inputs, nil)
	if err != nil {
		return countersign.Simulation{}, err
	}
	return r.sim, nil
}

// Walk is Simulate and also lists the actions on the path, in order and with
// repetitions.
func (m *Machine) Walk(scenarioID string, inputs map[string]countersign.Scalar) (countersign.Simulation, []ActionVisit, error) {
	visits := []ActionVisit{}
	r, err := m.simulate(scenarioID, inputs, &visits)
	if err != nil {
		return countersign.Simulation{}, nil, err
	}
	return r.sim, visits, nil
}

// simulate first computes the trace, which is cheap, and then replays it to write the
// answer.
func (m *Machine) simulate(scenarioID string, inputs map[string]countersign.Scalar, visits *[]ActionVisit) (*recorder, error) {
	s, err := m.scenario(scenarioID)
	if err != nil {
		return nil, err
	}
	if err := m.checkInputs(inputs); err != nil {
		return nil, err
	}
	budget := m.limit.Work
	cells := m.initial(s, inputs)
	c, ok := m.follow(cells, &budget)
	if !ok {
		return nil, m.tooLong(s)
	}
	r := newRecorder(m, m.values(s, inputs), cells, visits)
	if !r.record(c) {
		return nil, m.tooLong(s)
	}
	r.compare(s)
	return r, nil
}

func (m *Machine) scenario(id string) (*countersign.Scenario, error) {
	i, ok := m.ix.scenarios[id]
	if !ok {
		return nil, countersign.RefusedAt(countersign.CodeNotFound, "scenarioId", "model %s has no scenario %s", quoted(m.doc.ID), quoted(id))
	}
	return &m.doc.Scenarios[i], nil
}

func (m *Machine) checkInputs(inputs map[string]countersign.Scalar) error {
	problems := m.ix.misfits(countersign.VariableInput, inputs)
	for i := range problems {
		problems[i].Path = "inputs." + problems[i].Path
	}
	if len(problems) > 0 {
		return countersign.Refusal(countersign.CodeInvalidRequest, problems...)
	}
	return nil
}
