package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// finder turns a survey into findings, each with a witness.
type finder struct {
	*survey
	most int // of one code
	list []Finding
}

// maxFindings bounds the findings of one code in an exploration.
const maxFindings = 1000

// findings lists all findings, by state, transition and scenario.
func (s *survey) findings(runs []scenarioRun) []Finding {
	f := &finder{survey: s, most: maxFindings, list: []Finding{}}
	for i := range s.m.nodes {
		f.unreachable(i)
		f.trapped(i)
		f.stuckAt(i)
	}
	f.looped(s.loops)
	for i := range s.taken {
		f.never(i)
	}
	f.overlapping(s.overlaps)
	f.redundantScenarios(runs)
	return f.list
}

func (f *finder) add(w *Witness, at entry, code, format string, args ...any) {
	f.list = append(f.list, Finding{at: at, Witness: w, Problem: countersign.Problem{
		Path: at.String(), Code: code, Message: fmt.Sprintf(format, args...),
	}})
}

// memory describes the initial memory that was explored.
func (f *finder) memory() string {
	if len(f.m.doc.Scenarios) == 0 {
		return "the default memory"
	}
	return "the memory that the scenarios begin with"
}

func (f *finder) unreachable(i int) {
	if f.complete() && !f.reached[i] {
		f.add(nil, entry{"states", i}, UnreachableState,
			"no run comes to state %s with %s; mend the conditions on the way, add a scenario whose initialMemory leads there, or remove it", quoted(f.m.stateID(int32(i))), f.memory())
	}
}

// never leaves out transitions from unreached states.
func (f *finder) never(i int) {
	t := &f.m.doc.Transitions[i]
	if f.complete() && !f.taken[i] && f.reached[f.m.ix.states[t.FromStateID]] {
		f.add(nil, entry{"transitions", i}, TransitionNeverTaken,
			"no run takes transition %s with %s; mend its condition, add a scenario whose initialMemory leads there, or remove it", quoted(t.ID), f.memory())
	}
}

func (f *finder) trapped(i int) {
	if !f.trap[i] {
		return
	}
	if w, ok := f.witness(f.firstPair[i], nil); ok {
		f.add(&w, entry{"states", i}, TrapState, "no run that comes to state %s ends in a final state; %s goes %s", quoted(f.m.stateID(int32(i))), w.describeInputs(), w.describePath())
	}
}

func (f *finder) stuckAt(i int) {
	if !f.stuckIn[i] {
		return
	}
	at := f.stuckPair[i]
	if w, ok := f.witness(at, f.pairs[at].stuckInputs); ok {
		f.add(&w, entry{"states", i}, StuckPossible, "a run can get stuck in state %s, where no transition is enabled: %s goes %s", quoted(f.m.stateID(int32(i))), w.describeInputs(), w.describePath())
	}
}

func (f *finder) looped(loops []cycle) {
	f.more("states", LoopPossible, len(loops), "loops")
	for _, c := range loops[:min(len(loops), f.most)] {
		state := f.pairs[c.at].state
		if w, ok := f.witness(c.at, nil); ok {
			f.add(&w, entry{"states", int(state)}, LoopPossible, "a run can loop through state %s: %s goes %s", quoted(f.m.stateID(state)), w.describeInputs(), w.describePath())
		}
	}
}

// more adds a finding that says the list is truncated.
func (f *finder) more(list, code string, n int, what string) {
	if n > f.most {
		f.list = append(f.list, Finding{at: entry{list, -1}, Problem: countersign.Problem{
			Path: list, Code: code, Message: fmt.Sprintf("there are at least %d %s; the first %d are listed", n, what, f.most),
		}})
	}
}

// overlapping reports each overlap at its second transition, the one not taken.
func (f *finder) overlapping(list []overlap) {
	f.more("transitions", OverlappingTransitions, len(list), "pairs of transitions that overlap")
	for _, o := range list[:min(len(list), f.most)] {
		first, second := f.m.arcs[o.first].transition, &f.m.arcs[o.second]
		if w, ok := f.witness(o.pair, o.narrowed); ok {
			f.add(&w, entry{"transitions", second.index}, OverlappingTransitions,
				"transitions %s and %s of state %s have the same priority and can be enabled at once, so only their order in the document decides: %s goes %s; give them different priorities or conditions that exclude each other",
				quoted(first.ID), quoted(second.transition.ID), quoted(first.FromStateID), w.describeInputs(), w.describePath())
		}
	}
}

// redundantScenarios reports scenarios whose transitions and end are all covered by
// earlier scenarios.
func (f *finder) redundantScenarios(runs []scenarioRun) {
	covered, ends := make([]bool, len(f.taken)), map[string]bool{}
	for i, r := range runs {
		if !r.ended {
			continue
		}
		end := f.m.visited(r.trace, len(r.arcs)) + "\x00" + r.outcome
		if fresh := f.m.cover(covered, r.arcs); len(fresh) == 0 && ends[end] {
			f.add(nil, entry{"scenarios", i}, ScenarioCoversNothingNew,
				"every transition that scenario %s takes, and its end, is covered by scenarios before it", quoted(f.m.doc.Scenarios[i].ID))
		}
		ends[end] = true
	}
}

// duplicateScenarios reports scenarios whose initial values no condition distinguishes
// from those of an earlier one.
func (f *finder) duplicateScenarios() {
	if len(f.slots)*len(f.m.doc.Scenarios) > maxLive {
		return
	}
	first := map[string]string{}
	for i := range f.m.doc.Scenarios {
		s := &f.m.doc.Scenarios[i]
		key := keyOf(nil, f.cellsOf(s))
		if twin, found := first[string(key)]; found {
			f.add(nil, entry{"scenarios", i}, ScenarioCoversNothingNew,
				"no condition tells the values of scenario %s from those of scenario %s, so it covers nothing new; change them or remove it", quoted(s.ID), quoted(twin))
			continue
		}
		first[string(key)] = s.ID
	}
}

// describeInputs words the initial values of a witness for a message.
func (w *Witness) describeInputs() string {
	text := "with inputs " + object(w.Scenario.Inputs)
	if len(w.Scenario.InitialMemory) > 0 {
		text += " and initialMemory " + object(w.Scenario.InitialMemory)
	}
	return text + " it"
}

func object(values map[string]countersign.Scalar) string {
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(values)) {
		if len(parts) == maxChoices {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, quoted(id)+": "+rawText(values[id]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// describePath is a witness's path; the middle of a long one is left out.
func (w *Witness) describePath() string {
	path := w.Scenario.ExpectedPath
	if len(path) <= maxChoices {
		return arrows(path)
	}
	return arrows(path[:maxChoices/2]) + " > … > " + arrows(path[len(path)-maxChoices/2:])
}

func arrows(ids []string) string { return joined(ids, " > ") }
