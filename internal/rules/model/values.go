package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// applyValues calls set for each value that a scenario and a request give. A later
// layer overrides an earlier one: for memory initialMemory over defaultValue, for
// inputs the request over the scenario over defaultValue. An explicit null is a value
// and overrides; an absent value does not (contract 4).
func (m *Machine) applyValues(s *countersign.Scenario, inputs map[string]countersign.Scalar, set func(slot int, v countersign.Scalar)) {
	for _, layer := range []map[string]countersign.Scalar{s.InitialMemory, s.Inputs, inputs} {
		for id, v := range layer { // the order doesn't matter: keys are unique
			set(m.ix.variables[id].slot, v)
		}
	}
}

// initial returns the ranks in which a simulation starts.
func (m *Machine) initial(s *countersign.Scenario, inputs map[string]countersign.Scalar) []int32 {
	cells := slices.Clone(m.ranks)
	m.applyValues(s, inputs, func(slot int, v countersign.Scalar) { cells[slot] = m.constants[slot].rank(v) })
	return cells
}

// values is initial as values to display, with the digits as written.
func (m *Machine) values(s *countersign.Scenario, inputs map[string]countersign.Scalar) []countersign.Scalar {
	values := make([]countersign.Scalar, len(m.doc.Variables))
	for i := range values {
		values[i] = shown(m.doc.Variables[i].DefaultValue)
	}
	m.applyValues(s, inputs, func(slot int, v countersign.Scalar) { values[slot] = shown(v) })
	return values
}

// shown converts an unknown value to null.
func shown(v countersign.Scalar) countersign.Scalar {
	if !known(v) {
		return countersign.Scalar{Value: countersign.Null}
	}
	return v
}
