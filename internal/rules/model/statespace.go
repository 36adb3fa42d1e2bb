package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// stateSpace is the graph of the pairs that a machine can reach: a state, and a set of
// possible values for each variable tested. Inputs are fixed for a run but unknown
// here, so a pair keeps a set of values for each input, and a test that holds for only
// part of a set splits the pair. Inputs that no path tests cost nothing.
//
// Every path in the graph corresponds to some run: the sets are independent of each
// other and only shrink, and a variable that is no longer live is never tested again.
type stateSpace struct {
	m     *Machine
	limit int // maximum number of pairs
	work  int // remaining budget: tests, set members examined, edges

	replayWork int // remaining budget for running witnesses

	slots  []int32      // variables that conditions test, in the order of cells
	cellOf []int32      // by slot: its index in cells, none if it is not tested
	sets   []*valueSets // by cell: nil for memory, whose cell holds a rank
	live   [][]bool

	pairs         []pair
	known         map[string]int32
	expanded      int // pairs[:expanded] have all their edges
	overlaps      []overlap
	overlapTested map[string]bool   // arcs of equal priority and the values they were tested with
	testedCells   map[int32][]int32 // cells tested by arcs of equal priority, indexed by the first arc
	overlapFound  map[[2]int32]bool
}

// pair is a state and the possible values there.
type pair struct {
	state       int32
	cells       []int32
	parent      int32         // predecessor in the search tree, none for an initial pair
	scenario    int32         // of an initial pair: the scenario that gives its memory, none for the defaults
	narrowed    []restriction // inputs restricted on the edge from parent
	edges       []edge
	stuck       bool
	stuckInputs []restriction // when stuck: the inputs for which no arc is enabled
}

// restriction limits an input to a set of its values.
type restriction struct{ cell, set int32 }

// edge leads from a pair to its successor along an arc.
type edge struct {
	arc, to  int32
	narrowed []restriction
}

func newStateSpace(m *Machine, limit, work int) *stateSpace {
	w := &stateSpace{
		m: m, limit: limit, work: work, known: map[string]int32{}, overlapTested: map[string]bool{}, overlapFound: map[[2]int32]bool{}, testedCells: map[int32][]int32{},
		cellOf: slices.Repeat([]int32{none}, len(m.constants)),
	}
	tested := map[int32][]int32{}
	for i := range m.tests {
		tested[m.tests[i].slot] = append(tested[m.tests[i].slot], m.tests[i].rank)
	}
	for slot := range m.doc.Variables {
		ranks, ok := tested[int32(slot)]
		if !ok {
			continue
		}
		w.cellOf[slot] = int32(len(w.slots))
		w.slots = append(w.slots, int32(slot))
		var k *valueSets
		if m.doc.Variables[slot].Kind == countersign.VariableInput {
			k = newValueSets(m.domain(int32(slot), ranks))
		}
		w.sets = append(w.sets, k)
	}
	w.live = m.live(w.cellOf, len(w.slots))
	return w
}

// explored builds the state space of a machine as far as limit and work allow.
func explored(m *Machine, limit, work int) *stateSpace {
	w := newStateSpace(m, limit, work)
	w.addInitialPairs()
	w.explore()
	return w
}

// explore expands the pairs breadth-first.
func (space *stateSpace) explore() {
	for space.expanded < len(space.pairs) && space.expand(int32(space.expanded)) {
		space.expanded++
	}
}

func (space *stateSpace) complete() bool { return space.expanded == len(space.pairs) }

// expand finds the edges out of a pair: its arcs are tried in order, each with the
// values for which no earlier arc is taken.
func (space *stateSpace) expand(at int32) bool {
	n, parts := space.m.nodes[space.pairs[at].state], [][]int32{space.pairs[at].cells}
	if n.final {
		return true
	}
	for i := n.arcs; i < n.end && len(parts) > 0; i++ {
		space.findOverlaps(at, i, parts)
		var rest [][]int32
		for _, part := range parts {
			holds, fails := space.split(space.m.arcs[i].entry, part)
			for _, cells := range holds {
				space.addEdge(at, i, cells)
			}
			rest = append(rest, fails...)
		}
		parts = rest
	}
	if len(parts) > 0 && space.work > 0 {
		space.pairs[at].stuck, space.pairs[at].stuckInputs = true, space.leastRestricted(at, parts)
	}
	return space.work > 0 && len(space.pairs) <= space.limit
}

// addEdge takes an arc with the values in part.
func (space *stateSpace) addEdge(at, arc int32, part []int32) {
	if space.work <= 0 || len(space.pairs) > space.limit {
		return
	}
	a, cells := &space.m.arcs[arc], slices.Clone(part)
	for _, e := range a.effects {
		if place := space.cellOf[e.slot]; place != none {
			cells[place] = e.rank
		}
	}
	left := space.restrictions(at, part)
	to := space.add(pair{state: a.to, cells: cells, parent: at, scenario: none, narrowed: left})
	space.pairs[at].edges = append(space.pairs[at].edges, edge{arc: arc, to: to, narrowed: left})
	space.work -= 5 + len(left)
}

// add finds or creates a pair. A pair beyond the limit is counted but not expanded.
func (space *stateSpace) add(p pair) int32 {
	if space.live != nil {
		for i := range p.cells {
			if !space.live[p.state][i] {
				p.cells[i] = space.forgottenCell(i)
			}
		}
	}
	key := keyOf(keyOf(nil, []int32{p.state}), p.cells)
	at, found := space.known[string(key)]
	if !found {
		at = int32(len(space.pairs))
		space.work -= 10 + len(p.cells) // memory counts as work
		space.known[string(key)] = at
		space.pairs = append(space.pairs, p)
	}
	return at
}

func (space *stateSpace) forgottenCell(cell int) int32 {
	if space.sets[cell] != nil {
		return allValues
	}
	return unknown
}

// leastRestricted returns the restrictions of the part with the fewest.
func (space *stateSpace) leastRestricted(at int32, parts [][]int32) []restriction {
	best := space.restrictions(at, parts[0])
	for _, part := range parts[1:] {
		if left := space.restrictions(at, part); len(left) < len(best) {
			best = left
		}
	}
	return best
}

// restrictions lists the inputs whose sets in part differ from those of the pair.
func (space *stateSpace) restrictions(at int32, part []int32) []restriction {
	var left []restriction
	for i, set := range part {
		if space.sets[i] != nil && set != space.pairs[at].cells[i] {
			left = append(left, restriction{int32(i), set})
		}
	}
	return left
}
