package model

import (
	"github.com/countersign/countersign"
)

// Exploration lists what can happen in a model, over all inputs, in document order.
// Everything listed was shown by a run. Only when Complete is everything else
// impossible with the initial memory of the scenarios.
type Exploration struct {
	Complete    bool     // false: the limit ended the exploration
	Pairs       int      // pairs of a state and sets of possible values
	States      []string // states reached, the final and the stuck ones included
	Transitions []string // transitions taken
	StuckStates []string // states in which a run can get stuck
	LoopStates  []string // states that a cycle goes through
	TrapStates  []string // states from which no run reaches a final state
	Loops       int      // different cycles that can be entered
	Overlaps    []Overlap
	Findings    []Finding
	Coverage
}

// Overlap is two transitions of one state and priority that can be enabled at once;
// their order in the document decides.
type Overlap struct{ First, Second string }

// Finding is one result of an exploration, at a place in the document.
type Finding struct {
	countersign.Problem
	Witness *Witness // a run that shows it; nil where the finding is that no run exists
	at      entry
}

// workPerPair is the work budget for each pair of the limit.
const workPerPair = 100

// Explore visits every (state, values) pair that a simulation can reach, from each
// scenario's memory (the defaults in a model without scenarios) and with every input.
// There are infinitely many inputs, but conditions distinguish only finitely many
// classes, so each class counts once (domain). limit bounds the pairs, and with them
// memory and time.
func Explore(m *Machine, limit int) Exploration {
	w := explored(m, limit, workPerPair*limit)
	w.replayWork = max(workPerPair*limit, m.limit.Work)
	s := w.survey()
	e := Exploration{
		Complete: w.complete(), Pairs: min(len(w.pairs), limit), Loops: len(s.loops),
		States: m.stateIDs(s.reached), Transitions: m.transitionIDs(s.taken),
		StuckStates: m.stateIDs(s.stuckIn), LoopStates: m.stateIDs(s.looping), TrapStates: m.stateIDs(s.trap),
		Overlaps: []Overlap{},
	}
	for _, o := range w.overlaps {
		e.Overlaps = append(e.Overlaps, Overlap{m.arcs[o.first].transition.ID, m.arcs[o.second].transition.ID})
	}
	runs := m.runs(m.limit.Work)
	e.Findings = s.findings(runs)
	e.Coverage = s.coverage(runs)
	return e
}

// survey is what a state space says about the states and transitions of the document.
type survey struct {
	*stateSpace
	paths                                  shortestPaths
	loops                                  []cycle
	reached, stuckIn, looping, trap, taken []bool
	firstPair, stuckPair                   []int32 // by state: the first pair found, and the first where a run gets stuck
}

func (space *stateSpace) survey() *survey {
	n := len(space.m.nodes)
	s := &survey{
		stateSpace: space, paths: space.shortestPaths(), loops: space.cycles(), taken: make([]bool, len(space.m.doc.Transitions)),
		reached: make([]bool, n), stuckIn: make([]bool, n), looping: make([]bool, n), trap: make([]bool, n),
		firstPair: make([]int32, n), stuckPair: make([]int32, n),
	}
	for i := range space.pairs {
		s.visit(int32(i))
	}
	for _, c := range s.loops {
		for _, arc := range c.arcs {
			s.looping[space.m.arcs[arc].to] = true
		}
	}
	s.traps()
	return s
}

func (s *survey) visit(at int32) {
	p := &s.pairs[at]
	if !s.reached[p.state] {
		s.reached[p.state], s.firstPair[p.state] = true, at
	}
	if p.stuck && !s.stuckIn[p.state] {
		s.stuckIn[p.state], s.stuckPair[p.state] = true, at
	}
	for _, y := range p.edges {
		s.taken[s.m.arcs[y.arc].index] = true
	}
}

// traps marks the reached states from which no pair leads to a final state. An
// incomplete exploration marks none.
func (s *survey) traps() {
	if !s.complete() {
		return
	}
	copy(s.trap, s.reached)
	for i := range s.pairs {
		if s.paths.toFinal[i] != none {
			s.trap[s.pairs[i].state] = false
		}
	}
}

func (m *Machine) stateIDs(marked []bool) []string {
	return markedIDs(marked, func(i int) string { return m.doc.States[i].ID })
}

func (m *Machine) transitionIDs(marked []bool) []string {
	return markedIDs(marked, func(i int) string { return m.doc.Transitions[i].ID })
}

func markedIDs(marked []bool, id func(int) string) []string {
	ids := []string{}
	for i, is := range marked {
		if is {
			ids = append(ids, id(i))
		}
	}
	return ids
}
