package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// Witness is a run that shows a finding: a scenario ready to be simulated, which
// expects the path, state and result that it has.
type Witness struct {
	Outcome  string // final, stuck or loop
	Scenario countersign.Scenario
	course   trace
}

// witness creates a run that reaches a pair with some of its inputs. ok is false when
// the budget ran out: nothing is claimed that was not run.
func (space *stateSpace) witness(at int32, part []restriction) (Witness, bool) {
	begin, left := space.inputsTo(at, part)
	s := countersign.Scenario{Inputs: map[string]countersign.Scalar{}, InitialMemory: map[string]countersign.Scalar{}}
	if begin.scenario != none {
		for id, v := range space.m.doc.Scenarios[begin.scenario].InitialMemory {
			s.InitialMemory[id] = shown(v)
		}
	}
	for cell, set := range left {
		slot := space.slots[cell]
		s.Inputs[space.m.doc.Variables[slot].ID] = space.m.sample(slot, space.sets[cell], set)
	}
	return space.replay(s)
}

// inputsTo collects the input restrictions on the path to a pair. Sets only shrink, so
// the last restriction of each input counts.
func (space *stateSpace) inputsTo(at int32, part []restriction) (begin *pair, left map[int32]int32) {
	left = map[int32]int32{}
	for {
		for _, c := range part {
			if _, later := left[c.cell]; !later {
				left[c.cell] = c.set
			}
		}
		if at == none {
			return begin, left
		}
		begin = &space.pairs[at]
		at, part = begin.parent, begin.narrowed
	}
}

// replay runs a scenario and makes the result its expectation.
func (space *stateSpace) replay(s countersign.Scenario) (Witness, bool) {
	m, budget := space.m, min(space.replayWork, space.m.limit.Work)
	space.replayWork -= budget
	c, ok := m.follow(m.initial(&s, nil), &budget)
	if space.replayWork += budget; !ok {
		return Witness{}, false
	}
	s.ExpectedPath = m.path(c)
	s.ExpectedStateID = s.ExpectedPath[len(c.arcs)]
	s.ExpectedResult = m.result(c)
	return Witness{Outcome: c.outcome, Scenario: s, course: c}, true
}

// sample picks a value from a set: preferably the default, so that witnesses stay
// simple; else a constant of a condition, else a value between constants, and unknown
// last.
func (m *Machine) sample(slot int32, k *valueSets, set int32) countersign.Scalar {
	v := &m.doc.Variables[slot]
	if rank := m.classOf(slot, m.ranks[slot]); rank != unknown && k.has(set, rank) {
		return v.DefaultValue
	}
	ranks := slices.Clone(k.sets[set])
	slices.SortStableFunc(ranks, func(a, b int32) int { return specificity(a) - specificity(b) })
	return m.constants[slot].valueAt(ranks[0])
}

// classOf is the rank that represents a value: all texts that no condition names share
// one.
func (m *Machine) classOf(slot, rank int32) int32 {
	if s := &m.constants[slot]; !s.numbers && !s.closed && rank%2 == 0 {
		return 0
	}
	return rank
}

func specificity(rank int32) int {
	switch {
	case rank == unknown:
		return 2
	case rank%2 == 0:
		return 1
	default:
		return 0
	}
}
