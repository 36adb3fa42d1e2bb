package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// begin adds the pairs that a simulation can start with: each scenario's memory,
// the defaults in a model without scenarios, with every input. Scenarios without
// memory of their own begin with the same.
func (w *walk) begin() {
	plain := w.free(w.cellsOf(&countersign.Scenario{}))
	if len(w.m.doc.Scenarios) == 0 {
		w.start(none, plain)
	}
	for i, first := 0, true; i < len(w.m.doc.Scenarios); i++ {
		memory := w.m.doc.Scenarios[i].InitialMemory
		switch {
		case len(memory) > 0:
			w.start(int32(i), w.free(w.cellsOf(&countersign.Scenario{InitialMemory: memory})))
		case first:
			w.start(int32(i), slices.Clone(plain))
			first = false
		}
	}
}

func (w *walk) start(scenario int32, cells []int32) {
	w.add(pair{state: w.m.start, cells: cells, from: none, scenario: scenario})
}

// cellsOf is the ranks that a scenario begins with.
func (w *walk) cellsOf(s *countersign.Scenario) []int32 {
	cells := make([]int32, len(w.slots))
	for i, slot := range w.slots {
		cells[i] = w.m.kindOf(slot, w.m.ranks[slot])
	}
	w.m.given(s, nil, func(slot int, v countersign.Scalar) {
		if place := w.places[slot]; place != none {
			cells[place] = w.m.kindOf(int32(slot), w.m.scales[slot].rank(v))
		}
	})
	return cells
}

// free lets inputs be of any kind.
func (w *walk) free(cells []int32) []int32 {
	for i, k := range w.kinds {
		if k != nil {
			cells[i] = allKinds
		}
	}
	return cells
}
