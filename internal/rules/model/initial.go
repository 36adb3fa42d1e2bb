package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// addInitialPairs adds the pairs in which a simulation can start: each scenario's
// memory (the defaults in a model without scenarios) with every input. Scenarios
// without initialMemory share one pair.
func (w *stateSpace) addInitialPairs() {
	plain := w.allInputs(w.cellsOf(&countersign.Scenario{}))
	if len(w.m.doc.Scenarios) == 0 {
		w.addInitial(none, plain)
	}
	for i, first := 0, true; i < len(w.m.doc.Scenarios); i++ {
		memory := w.m.doc.Scenarios[i].InitialMemory
		switch {
		case len(memory) > 0:
			w.addInitial(int32(i), w.allInputs(w.cellsOf(&countersign.Scenario{InitialMemory: memory})))
		case first:
			w.addInitial(int32(i), slices.Clone(plain))
			first = false
		}
	}
}

func (w *stateSpace) addInitial(scenario int32, cells []int32) {
	w.add(pair{state: w.m.start, cells: cells, parent: none, scenario: scenario})
}

// cellsOf returns the initial ranks of a scenario.
func (w *stateSpace) cellsOf(s *countersign.Scenario) []int32 {
	cells := make([]int32, len(w.slots))
	for i, slot := range w.slots {
		cells[i] = w.m.classOf(slot, w.m.ranks[slot])
	}
	w.m.applyValues(s, nil, func(slot int, v countersign.Scalar) {
		if place := w.cellOf[slot]; place != none {
			cells[place] = w.m.classOf(int32(slot), w.m.constants[slot].rank(v))
		}
	})
	return cells
}

// allInputs sets every input to the set of all values.
func (w *stateSpace) allInputs(cells []int32) []int32 {
	for i, k := range w.sets {
		if k != nil {
			cells[i] = allValues
		}
	}
	return cells
}
