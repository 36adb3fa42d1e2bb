package model

import "github.com/countersign/countersign"

// Limits of exploring during one validation, and of the warnings of one code.
const (
	maxPairs    = 20_000
	maxPairWork = 1_000_000
	maxReplays  = 1_000_000
	maxWarnings = 50
)

// warnFromExploration explores the model and keeps, by place, the warnings that
// neither the static checks nor the scenarios give already.
func (w *warner) warnFromExploration() {
	if w.machine == nil {
		return
	}
	walked := explored(w.machine, maxPairs, maxPairWork)
	walked.replayWork = maxReplays
	s := walked.survey()
	f := &finder{survey: s, most: maxWarnings}
	if !s.complete() {
		w.warn("", ExplorationEnded, "the model is too large to be explored within one validation: what can't happen is judged by each state alone, and more can go wrong than is listed; explore it by itself")
	}
	w.ofStates(f)
	for i := range w.neverTaken {
		if w.neverTaken[i] == "" {
			f.never(i)
		}
	}
	f.overlapping(w.takeableOverlaps(s))
	f.duplicateScenarios()
	for _, found := range f.list {
		w.explored[found.at] = append(w.explored[found.at], found.Problem)
	}
}

// ofStates leaves out states that the static checks warn about.
func (w *warner) ofStates(f *finder) {
	static, _ := w.reachable()
	shown, ended := f.loopsOfScenarios(), w.leadsToDeadEnd(f.survey)
	for i := range w.doc.States {
		if static[i] {
			f.unreachable(i)
		}
		if !ended[i] && !shown[i] {
			f.trapped(i)
		}
		shown[i] = shown[i] || !w.hasExit(i)
	}
	f.looped(f.newLoops(shown))
}

// loopsOfScenarios marks the states of cycles that scenarios run into; the warnings
// about the scenarios cover them.
func (s *survey) loopsOfScenarios() []bool {
	shown := make([]bool, len(s.m.nodes))
	if len(s.loops) == 0 {
		return shown
	}
	begun := map[int32]bool{}
	for _, r := range s.m.runs(maxScenarioWork) {
		if r.outcome == countersign.OutcomeLoop {
			begun[r.arcs[len(r.arcs)-1]] = true
		}
	}
	for _, c := range s.loops {
		for _, arc := range c.arcs {
			if begun[arc] {
				s.m.markTargets(shown, c.arcs)
			}
		}
	}
	return shown
}

func (m *Machine) markTargets(states []bool, arcs []int32) {
	for _, arc := range arcs {
		states[m.arcs[arc].to] = true
	}
}

// newLoops lists the cycles with a state that is not marked and not on an earlier
// cycle.
func (s *survey) newLoops(shown []bool) []cycle {
	var list []cycle
	for _, c := range s.loops {
		fresh := false
		for _, arc := range c.arcs {
			fresh = fresh || !shown[s.m.arcs[arc].to]
		}
		if fresh {
			list = append(list, c)
			s.m.markTargets(shown, c.arcs)
		}
	}
	return list
}

// leadsToDeadEnd marks the states from which a dead end is reachable; the warning
// about the dead end explains why these runs do not end.
func (w *warner) leadsToDeadEnd(s *survey) []bool {
	ended, before := make([]bool, len(s.m.nodes)), s.m.predecessors()
	var open []int32
	for i := range s.m.nodes {
		if s.reached[i] && !s.m.nodes[i].final && !w.hasExit(i) {
			open = append(open, int32(i))
		}
	}
	for len(open) > 0 {
		state := open[len(open)-1]
		if open = open[:len(open)-1]; !ended[state] {
			ended[state] = true
			open = append(open, before[state]...)
		}
	}
	return ended
}

// takeableOverlaps lists the overlaps whose second transition can be taken.
func (w *warner) takeableOverlaps(s *survey) []overlap {
	var list []overlap
	for _, o := range s.overlaps {
		if w.neverTaken[s.m.arcs[o.second].index] == "" {
			list = append(list, o)
		}
	}
	return list
}
