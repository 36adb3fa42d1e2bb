package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// addInitialPairs adds the pairs in which a simulation can start: each scenario's
// memory (the defaults in a model without scenarios) with every input. Scenarios
// without initialMemory share one pair.
func (space *stateSpace) addInitialPairs() {
	plain := space.allInputs(space.cellsOf(&countersign.Scenario{}))
	if len(space.m.doc.Scenarios) == 0 {
		space.addInitial(none, plain)
	}
	for i, first := 0, true; i < len(space.m.doc.Scenarios); i++ {
		memory := space.m.doc.Scenarios[i].InitialMemory
		switch {
		case len(memory) > 0:
			space.addInitial(int32(i), space.allInputs(space.cellsOf(&countersign.Scenario{InitialMemory: memory})))
		case first:
			space.addInitial(int32(i), slices.Clone(plain))
			first = false
		}
	}
}

func (space *stateSpace) addInitial(scenario int32, cells []int32) {
	space.add(pair{state: space.m.start, cells: cells, parent: none, scenario: scenario})
}

// cellsOf returns the initial ranks of a scenario.
func (space *stateSpace) cellsOf(s *countersign.Scenario) []int32 {
	cells := make([]int32, len(space.slots))
	for i, slot := range space.slots {
		cells[i] = space.m.classOf(slot, space.m.ranks[slot])
	}
	space.m.applyValues(s, nil, func(slot int, v countersign.Scalar) {
		if place := space.cellOf[slot]; place != none {
			cells[place] = space.m.classOf(int32(slot), space.m.constants[slot].rank(v))
		}
	})
	return cells
}

// allInputs sets every input to the set of all values.
func (space *stateSpace) allInputs(cells []int32) []int32 {
	for i, k := range space.sets {
		if k != nil {
			cells[i] = allValues
		}
	}
	return cells
}
