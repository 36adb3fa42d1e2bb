package model

import (
	"github.com/countersign/countersign"
)

// Exploration is what a model can come to, whatever its inputs are. All lists
// are in document order. What is listed was shown; only when Complete, what is
// not listed can't happen with the memory that the scenarios begin with.
type Exploration struct {
	Complete    bool     // false: the limit ended the exploration
	Pairs       int      // pairs of a state and kinds of values
	States      []string // states reached, the final and the stuck ones included
	Transitions []string // transitions taken
	StuckStates []string // states in which a run can get stuck
	LoopStates  []string // states that a cycle goes through
	TrapStates  []string // states from which no run comes to a final state
	Loops       int      // different cycles that can be entered
	Overlaps    []Overlap
	Findings    []Finding
	Coverage
}

// Overlap is two transitions of one state and priority that can be enabled at
// once: the first is taken then, only for its place in the document.
type Overlap struct{ First, Second string }

// Finding is one thing that an exploration shows about a place of the document.
type Finding struct {
	countersign.Problem
	Witness *Witness // a run that shows it; nil where the finding is that there is none
	at      entry
}

// workPerPair is how much work an exploration may do for each pair of its limit.
const workPerPair = 100

// Explore walks every (state, values) pair that a simulation can reach, from
// each scenario's memory (the defaults in a model without scenarios) and with
// every input. Inputs are infinitely many, but conditions tell only finitely
// many apart, so one of each kind stands for all (domain), and pairs are counted
// so. limit bounds the pairs, and with them memory and time.
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

// survey is what the graph of a walk says about the states and transitions of
// the document.
type survey struct {
	*stateSpace
	paths                                  shortestPaths
	loops                                  []cycle
	reached, stuckIn, looping, trap, taken []bool
	firstPair, stuckPair                   []int32 // by state: the pair found first, and the first that gets stuck
}

func (w *stateSpace) survey() *survey {
	n := len(w.m.nodes)
	s := &survey{
		stateSpace: w, paths: w.shortestPaths(), loops: w.cycles(), taken: make([]bool, len(w.m.doc.Transitions)),
		reached: make([]bool, n), stuckIn: make([]bool, n), looping: make([]bool, n), trap: make([]bool, n),
		firstPair: make([]int32, n), stuckPair: make([]int32, n),
	}
	for i := range w.pairs {
		s.visit(int32(i))
	}
	for _, c := range s.loops {
		for _, arc := range c.arcs {
			s.looping[w.m.arcs[arc].to] = true
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

// traps marks the states that are reached and of which no pair leads to a final
// state. Before the end of a walk that isn't known of any.
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

func (m *Machine) stateIDs(of []bool) []string {
	ids := []string{}
	for i, listed := range of {
		if listed {
			ids = append(ids, m.doc.States[i].ID)
		}
	}
	return ids
}

func (m *Machine) transitionIDs(of []bool) []string {
	ids := []string{}
	for i, listed := range of {
		if listed {
			ids = append(ids, m.doc.Transitions[i].ID)
		}
	}
	return ids
}
