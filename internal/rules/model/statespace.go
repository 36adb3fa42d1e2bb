package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// stateSpace is everything that a machine can come to, as a graph of pairs: a state
// and the kinds of values there. Inputs are fixed for a run but unknown to the
// walk, so a pair has for each input a set of kinds, and a test that only some
// of them meet parts the pair. So inputs that a path never looks at cost nothing.
//
// Every path through the graph is the course of some run: sets are independent
// of each other and only become smaller, and what live forgets is never looked
// pair again.
type stateSpace struct {
	m     *Machine
	limit int // pairs
	work  int // what is left of it: tests, members of sets looked at, ways

	replayWork int // what is left of the work for running witnesses

	slots  []int32      // the slots that are tested; cells are in their order
	cellOf []int32      // of each slot in cells, none without one
	sets   []*valueSets // of each cell, nil for memory, whose cell is its rank
	live   [][]bool

	pairs         []pair
	known         map[string]int32
	expanded      int // pairs whose ways are all found: pairs[:opened]
	overlaps      []overlap
	overlapTested map[string]bool   // what the arcs of one priority were tried with
	testedCells   map[int32][]int32 // the cells that they look at, by the first of them
	overlapFound  map[[2]int32]bool // overlaps found
}

// pair is a state and the kinds of values there.
type pair struct {
	state       int32
	cells       []int32
	parent      int32         // the pair it was found from, none for a beginning
	scenario    int32         // of a beginning: whose memory it is, none for the defaults
	narrowed    []restriction // to what the inputs came down on the way from there
	edges       []edge
	stuck       bool
	stuckInputs []restriction // when stuck: what is left of the inputs then
}

// restriction is what is left of an input: a set of its kinds.
type restriction struct{ cell, set int32 }

// edge leads from a pair to the next.
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

// explored walks a machine as far as the limit and the work go.
func explored(m *Machine, limit, work int) *stateSpace {
	w := newStateSpace(m, limit, work)
	w.addInitialPairs()
	w.explore()
	return w
}

// explore opens pair after pair, nearest first.
func (w *stateSpace) explore() {
	for w.expanded < len(w.pairs) && w.expand(int32(w.expanded)) {
		w.expanded++
	}
}

func (w *stateSpace) complete() bool { return w.expanded == len(w.pairs) }

// expand finds the ways out of a pair: its arcs are tried in order, each with what
// the ones before have left.
func (w *stateSpace) expand(at int32) bool {
	n, parts := w.m.nodes[w.pairs[at].state], [][]int32{w.pairs[at].cells}
	if n.final {
		return true
	}
	for i := n.arcs; i < n.end && len(parts) > 0; i++ {
		w.findOverlaps(at, i, parts)
		var rest [][]int32
		for _, part := range parts {
			holds, fails := w.split(w.m.arcs[i].entry, part)
			for _, cells := range holds {
				w.addEdge(at, i, cells)
			}
			rest = append(rest, fails...)
		}
		parts = rest
	}
	if len(parts) > 0 && w.work > 0 {
		w.pairs[at].stuck, w.pairs[at].stuckInputs = true, w.leastRestricted(at, parts)
	}
	return w.work > 0 && len(w.pairs) <= w.limit
}

// addEdge goes along an arc with the part of a pair that takes it.
func (w *stateSpace) addEdge(at, arc int32, part []int32) {
	if w.work <= 0 || len(w.pairs) > w.limit {
		return
	}
	a, cells := &w.m.arcs[arc], slices.Clone(part)
	for _, e := range a.effects {
		if place := w.cellOf[e.slot]; place != none {
			cells[place] = e.rank
		}
	}
	left := w.restrictions(at, part)
	to := w.add(pair{state: a.to, cells: cells, parent: at, scenario: none, narrowed: left})
	w.pairs[at].edges = append(w.pairs[at].edges, edge{arc: arc, to: to, narrowed: left})
	w.work -= 5 + len(left)
}

// add finds or makes a pair. The one beyond the limit is only counted.
func (w *stateSpace) add(p pair) int32 {
	if w.live != nil {
		for i := range p.cells {
			if !w.live[p.state][i] {
				p.cells[i] = w.forgottenCell(i)
			}
		}
	}
	key := keyOf(keyOf(nil, []int32{p.state}), p.cells)
	at, found := w.known[string(key)]
	if !found {
		at = int32(len(w.pairs))
		w.work -= 10 + len(p.cells) // what a pair holds is paid for
		w.known[string(key)] = at
		w.pairs = append(w.pairs, p)
	}
	return at
}

func (w *stateSpace) forgottenCell(cell int) int32 {
	if w.sets[cell] != nil {
		return allValues
	}
	return unknown
}

// leastRestricted is the part that says least of the inputs.
func (w *stateSpace) leastRestricted(at int32, parts [][]int32) []restriction {
	best := w.restrictions(at, parts[0])
	for _, part := range parts[1:] {
		if left := w.restrictions(at, part); len(left) < len(best) {
			best = left
		}
	}
	return best
}

// restrictions is in what a part of a pair differs from it.
func (w *stateSpace) restrictions(at int32, part []int32) []restriction {
	var left []restriction
	for i, set := range part {
		if w.sets[i] != nil && set != w.pairs[at].cells[i] {
			left = append(left, restriction{int32(i), set})
		}
	}
	return left
}
