package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// begin adds the pairs that a simulation can start with: each scenario's memory,
// the defaults in a model without scenarios, with every input.
func (w *walk) begin() {
	w.eachMemory(func(scenario int32, cells []int32) { w.start(scenario, cells, nil) })
}

// beginEach adds them for each combination of inputs by itself. It reports
// whether they are few enough.
func (w *walk) beginEach() bool {
	every := w.combinations()
	if every.count(w.limit) > w.limit {
		return false
	}
	for more := true; more; more = every.next() {
		w.eachMemory(func(scenario int32, cells []int32) {
			every.set(cells)
			w.start(scenario, cells, every.choices())
		})
		if w.work -= 1 + len(w.slots); w.work <= 0 || len(w.pairs) > w.limit {
			return false
		}
	}
	return true
}

// combinations is every combination of single kinds of inputs.
func (w *walk) combinations() combinations {
	var c combinations
	for i, k := range w.kinds {
		if k == nil || w.live != nil && !w.live[w.m.start][i] {
			continue
		}
		c.slots = append(c.slots, int32(i))
		var single []int32
		for _, rank := range k.sets[allKinds] {
			single = append(single, k.one(rank))
		}
		c.domains = append(c.domains, single)
	}
	c.at = make([]int, len(c.slots))
	return c
}

// combinations are cases over the cells of a walk.
type combinations struct{ cases }

func (c *combinations) choices() []choice {
	left := make([]choice, len(c.slots))
	for i, cell := range c.slots {
		left[i] = choice{cell, c.domains[i][c.at[i]]}
	}
	return left
}

func (w *walk) start(scenario int32, cells []int32, left []choice) {
	w.add(pair{state: w.m.start, cells: cells, from: none, scenario: scenario, left: left})
}

// eachMemory visits the cells of each beginning, with all kinds of inputs.
// Scenarios without memory of their own begin with the same.
func (w *walk) eachMemory(visit func(scenario int32, cells []int32)) {
	plain := w.cellsOf(&countersign.Scenario{})
	if len(w.m.doc.Scenarios) == 0 {
		visit(none, w.free(plain))
	}
	for i, first := 0, true; i < len(w.m.doc.Scenarios); i++ {
		memory := w.m.doc.Scenarios[i].InitialMemory
		switch {
		case len(memory) > 0:
			visit(int32(i), w.free(w.cellsOf(&countersign.Scenario{InitialMemory: memory})))
		case first:
			visit(int32(i), w.free(slices.Clone(plain)))
			first = false
		}
	}
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
