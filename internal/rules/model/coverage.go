package model

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
)

// Coverage says which transitions the scenarios of a model take, and which are
// missing.
type Coverage struct {
	Covered  []string               // transitions that some scenario takes
	Proposed []countersign.Scenario // with the model's own they take every transition that can be taken, except Looped
	Looped   []string               // when Complete: transitions that only looping runs take, so no passing scenario has them
}

// scenarioRun is the trace of a scenario, incomplete unless ended.
type scenarioRun struct {
	trace
	ended bool
}

// runs follows every scenario with its own inputs.
func (m *Machine) runs(budget int) []scenarioRun {
	runs := make([]scenarioRun, len(m.doc.Scenarios))
	for i := range m.doc.Scenarios {
		runs[i].trace, runs[i].ended = m.follow(m.initial(&m.doc.Scenarios[i], nil), &budget)
	}
	return runs
}

func (s *survey) coverage(runs []scenarioRun) Coverage {
	covered := make([]bool, len(s.taken))
	for _, r := range runs {
		s.m.cover(covered, r.arcs)
	}
	c := Coverage{Covered: s.m.transitionIDs(covered)}
	p := proposer{survey: s, covered: covered, ids: s.m.ix.scenarios, used: map[string]bool{}, list: []countersign.Scenario{}}
	p.propose()
	c.Proposed, c.Looped = p.list, s.m.transitionIDs(p.looped)
	return c
}

// cover marks the transitions of arcs and returns the ids of those newly marked.
func (m *Machine) cover(covered []bool, arcs []int32) (fresh []string) {
	for _, arc := range arcs {
		if i := m.arcs[arc].index; !covered[i] {
			covered[i] = true
			fresh = append(fresh, m.doc.Transitions[i].ID)
		}
	}
	return fresh
}

// some lists at most maxChoices ids for a message.
func some(ids []string) string {
	more := len(ids) - maxChoices
	if more <= 0 {
		return joined(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", joined(ids[:maxChoices], ", "), more)
}

func joined(ids []string, by string) string {
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = clipped(id)
	}
	return strings.Join(short, by)
}
