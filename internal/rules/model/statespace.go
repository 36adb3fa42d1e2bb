package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// walk is everything that a machine can come to, as a graph of pairs: a state
// and the kinds of values there. Inputs are fixed for a run but unknown to the
// walk, so a pair has for each input a set of kinds, and a test that only some
// of them meet parts the pair. So inputs that a path never looks at cost nothing.
//
// Every path through the graph is the course of some run: sets are independent
// of each other and only become smaller, and what live forgets is never looked
// at again.
type walk struct {
	m     *Machine
	limit int // pairs
	work  int // what is left of it: tests, members of sets looked at, ways

	replays int // what is left of the work for running witnesses

	slots  []int32  // the slots that are tested; cells are in their order
	places []int32  // of each slot in cells, none without one
	kinds  []*kinds // of each cell, nil for memory, whose cell is its rank
	live   [][]bool

	pairs    []pair
	known    map[string]int32
	opened   int // pairs whose ways are all found: pairs[:opened]
	overlaps []overlap
	judged   map[string]bool   // what the arcs of one priority were tried with
	rivalry  map[int32][]int32 // the cells that they look at, by the first of them
	pairings map[[2]int32]bool // overlaps found
}

// pair is a state and the kinds of values there.
type pair struct {
	state    int32
	cells    []int32
	from     int32    // the pair it was found from, none for a beginning
	scenario int32    // of a beginning: whose memory it is, none for the defaults
	left     []choice // to what the inputs came down on the way from there
	ways     []way
	stuck    bool
	halted   []choice // when stuck: what is left of the inputs then
}

// choice is what is left of an input: a set of its kinds.
type choice struct{ cell, set int32 }

// way leads from a pair to the next.
type way struct {
	arc, to int32
	left    []choice
}

func newWalk(m *Machine, limit, work int) *walk {
	w := &walk{
		m: m, limit: limit, work: work, known: map[string]int32{}, judged: map[string]bool{}, pairings: map[[2]int32]bool{}, rivalry: map[int32][]int32{},
		places: slices.Repeat([]int32{none}, len(m.scales)),
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
		w.places[slot] = int32(len(w.slots))
		w.slots = append(w.slots, int32(slot))
		var k *kinds
		if m.doc.Variables[slot].Kind == countersign.VariableInput {
			k = newKinds(m.domain(int32(slot), ranks))
		}
		w.kinds = append(w.kinds, k)
	}
	w.live = m.live(w.places, len(w.slots))
	return w
}

// explored walks a machine as far as the limit and the work go.
func explored(m *Machine, limit, work int) *walk {
	w := newWalk(m, limit, work)
	w.begin()
	w.run()
	return w
}

// run opens pair after pair, nearest first.
func (w *walk) run() {
	for w.opened < len(w.pairs) && w.open(int32(w.opened)) {
		w.opened++
	}
}

func (w *walk) complete() bool { return w.opened == len(w.pairs) }

// open finds the ways out of a pair: its arcs are tried in order, each with what
// the ones before have left.
func (w *walk) open(at int32) bool {
	n, parts := w.m.nodes[w.pairs[at].state], [][]int32{w.pairs[at].cells}
	if n.final {
		return true
	}
	for i := n.arcs; i < n.end && len(parts) > 0; i++ {
		w.compete(at, i, parts)
		var rest [][]int32
		for _, part := range parts {
			holds, fails := w.split(w.m.arcs[i].entry, part)
			for _, cells := range holds {
				w.lead(at, i, cells)
			}
			rest = append(rest, fails...)
		}
		parts = rest
	}
	if len(parts) > 0 && w.work > 0 {
		w.pairs[at].stuck, w.pairs[at].halted = true, w.plainest(at, parts)
	}
	return w.work > 0 && len(w.pairs) <= w.limit
}

// lead goes along an arc with the part of a pair that takes it.
func (w *walk) lead(at, arc int32, part []int32) {
	if w.work <= 0 || len(w.pairs) > w.limit {
		return
	}
	a, cells := &w.m.arcs[arc], slices.Clone(part)
	for _, e := range a.effects {
		if place := w.places[e.slot]; place != none {
			cells[place] = e.rank
		}
	}
	left := w.choices(at, part)
	to := w.add(pair{state: a.to, cells: cells, from: at, scenario: none, left: left})
	w.pairs[at].ways = append(w.pairs[at].ways, way{arc: arc, to: to, left: left})
	w.work -= 5 + len(left)
}

// add finds or makes a pair. The one beyond the limit is only counted.
func (w *walk) add(p pair) int32 {
	if w.live != nil {
		for i := range p.cells {
			if !w.live[p.state][i] {
				p.cells[i] = w.forgotten(i)
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

func (w *walk) forgotten(cell int) int32 {
	if w.kinds[cell] != nil {
		return allKinds
	}
	return unknown
}

// plainest is the part that says least of the inputs.
func (w *walk) plainest(at int32, parts [][]int32) []choice {
	best := w.choices(at, parts[0])
	for _, part := range parts[1:] {
		if left := w.choices(at, part); len(left) < len(best) {
			best = left
		}
	}
	return best
}

// choices is in what a part of a pair differs from it.
func (w *walk) choices(at int32, part []int32) []choice {
	var left []choice
	for i, set := range part {
		if w.kinds[i] != nil && set != w.pairs[at].cells[i] {
			left = append(left, choice{int32(i), set})
		}
	}
	return left
}
