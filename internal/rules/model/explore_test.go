package model_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

func TestExploreFindsWhatSomeInputLeadsTo(t *testing.T) {
	e := model.Explore(compiled(t, sound()), 1000)
	wantEqual(t, "complete", e.Complete, true)
	wantEqual(t, "states", encoded(t, e.States), `["a","b","c"]`)
	wantEqual(t, "transitions", encoded(t, e.Transitions), `["ab","ac","bc"]`)
	wantEqual(t, "stuck", encoded(t, e.StuckStates), `["a"]`)
	wantEqual(t, "loops", e.Loops, 0)
}

func TestExploreSaysThatTheLimitEndedIt(t *testing.T) {
	e := model.Explore(compiled(t, sound()), 2)
	wantEqual(t, "complete", e.Complete, false)
	wantEqual(t, "pairs", e.Pairs, 2)
}

// TestBeforeTheEndNothingIsSaidThatWasNotSeen: what doesn't happen, what only
// loops and what is trapped is known at the end only.
func TestBeforeTheEndNothingIsSaidThatWasNotSeen(t *testing.T) {
	e := model.Explore(compiled(t, counter(12, false)), 100)
	wantEqual(t, "complete", e.Complete, false)
	wantEqual(t, "findings", encoded(t, e.Findings), "[]")
	wantEqual(t, "traps", len(e.TrapStates)+len(e.Looped)+len(e.Proposed), 0)
}

func TestExploreNeedsNoScenario(t *testing.T) {
	doc := sound()
	doc.Scenarios = nil
	wantEqual(t, "complete", model.Explore(compiled(t, doc), 1000).Complete, true)
}

func TestExploreCountsACycleOnce(t *testing.T) {
	doc := &countersign.AgentModel{
		Variables: []countersign.Variable{input("left", "boolean", null)},
		States:    states("a", "b", "c"),
		Transitions: []countersign.Transition{
			arrow("ab", "a", "b", predicate("left", "eq", raw("true"))), arrow("ac", "a", "c", and()),
			arrow("bc", "b", "c", and()), arrow("cb", "c", "b", and()),
		},
	}
	e := model.Explore(compiled(t, doc), 1000)
	wantEqual(t, "loops", e.Loops, 1) // whatever left is, and wherever it is entered
	wantEqual(t, "states", encoded(t, e.LoopStates), `["b","c"]`)
}

// TestExploreEqualsTryingEveryInput simulates every scenario with a value of
// each kind for each input: what happens then is what Explore says can happen.
func TestExploreEqualsTryingEveryInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		for i := range doc.Variables {
			if i >= 2 { // 16 kinds of values for each input are enough twice
				doc.Variables[i].Kind = "memory"
			}
		}
		for i := range doc.Scenarios {
			doc.Scenarios[i].Inputs = nil
		}
		for i := range doc.Actions { // only effects on what is still memory
			doc.Actions[i].MemoryEffects = slices.DeleteFunc(doc.Actions[i].MemoryEffects, func(e countersign.MemoryEffect) bool {
				return doc.Variables[e.VariableID[1]-'0'].Kind != "memory"
			})
		}
		m := mustCompile(t, doc)
		got, want := model.Explore(m, 1_000_000), tryAll(t, doc, m)
		for _, id := range got.Looped {
			if slices.Contains(want.Covered, id) {
				t.Fatalf("transition %s is taken by a run that ends; document: %s", id, mustEncode(t, doc))
			}
		}
		if summary(t, got) != summary(t, want) {
			t.Fatalf("document: %s\ngot:  %s\nwant: %s", mustEncode(t, doc), summary(t, got), summary(t, want))
		}
	})
}

func summary(t *rapid.T, e model.Exploration) string {
	e.Pairs, e.Loops, e.Findings, e.Coverage = 0, 0, nil, model.Coverage{}
	slices.SortFunc(e.Overlaps, func(a, b model.Overlap) int {
		return cmp.Or(strings.Compare(a.First, b.First), strings.Compare(a.Second, b.Second))
	})
	return mustEncode(t, e)
}

func tryAll(t *rapid.T, doc *countersign.AgentModel, m *model.Machine) model.Exploration {
	states, taken, stuck, looping := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	ends, passing, overlaps := map[string]bool{}, map[string]bool{}, map[model.Overlap]bool{}
	eachInput(doc, func(inputs given) {
		for _, s := range doc.Scenarios {
			sim := mustSimulate(t, m, s.ID, inputs)
			for _, id := range sim.Path {
				states[id] = true
			}
			for _, entry := range sim.Trace {
				taken[entry.TransitionID] = true
				passing[entry.TransitionID] = passing[entry.TransitionID] || sim.Outcome != "loop"
			}
			for _, id := range sim.Path {
				ends[id] = ends[id] || sim.Outcome == "final"
			}
			enabledAtOnce(doc, s, inputs, sim, overlaps)
			stuck[sim.FinalStateID] = stuck[sim.FinalStateID] || sim.Outcome == "stuck"
			for _, id := range cycle(doc, s, inputs, sim) {
				looping[id] = true
			}
		}
	})
	e := model.Exploration{Complete: true, States: []string{}, Transitions: []string{}, StuckStates: []string{}, LoopStates: []string{}, TrapStates: []string{}, Overlaps: []model.Overlap{}}
	for _, s := range doc.States {
		e.States = with(e.States, s.ID, states)
		e.StuckStates = with(e.StuckStates, s.ID, stuck)
		e.LoopStates = with(e.LoopStates, s.ID, looping)
		if states[s.ID] && !ends[s.ID] {
			e.TrapStates = append(e.TrapStates, s.ID)
		}
	}
	for _, t := range doc.Transitions {
		e.Transitions = with(e.Transitions, t.ID, taken)
		e.Covered = with(e.Covered, t.ID, passing) // by runs that end
	}
	for o := range overlaps {
		e.Overlaps = append(e.Overlaps, o)
	}
	return e
}

func with(list []string, id string, in map[string]bool) []string {
	if in[id] {
		return append(list, id)
	}
	return list
}

// eachInput goes through sampled values of all inputs.
func eachInput(doc *countersign.AgentModel, visit func(given)) {
	all := []given{{}}
	for _, v := range doc.Variables {
		if v.Kind != "input" {
			continue
		}
		var more []given
		for _, before := range all {
			for _, value := range sampled[v.Type] {
				next := given{v.ID: raw(value)}
				for id, x := range before {
					next[id] = x
				}
				more = append(more, next)
			}
		}
		all = more
	}
	for _, inputs := range all {
		visit(inputs)
	}
}

// cycle is the states of a loop: the last of the path and all since it was last
// met with the same values.
func cycle(doc *countersign.AgentModel, s countersign.Scenario, inputs given, sim countersign.Simulation) []string {
	if sim.Outcome != "loop" {
		return nil
	}
	var points []string
	eachPoint(doc, s, inputs, sim, func(in *interpreter) { points = append(points, in.point()) })
	return sim.Path[slices.Index(points, points[len(points)-1]):]
}

// eachPoint goes along a simulation once more.
func eachPoint(doc *countersign.AgentModel, s countersign.Scenario, inputs given, sim countersign.Simulation, visit func(*interpreter)) {
	in := interpreter{doc: doc, values: given{}}
	for _, v := range doc.Variables {
		in.values[v.ID] = v.DefaultValue
		for _, layer := range []given{s.InitialMemory, s.Inputs, inputs} {
			if value, ok := layer[v.ID]; ok {
				in.values[v.ID] = value
			}
		}
	}
	for i, id := range sim.Path {
		in.sim.FinalStateID = id
		visit(&in)
		if i < len(sim.Trace) {
			for _, e := range sim.Trace[i].Effects {
				in.values[e.VariableID] = e.Value
			}
		}
	}
}

// enabledAtOnce notes the overlaps that a simulation comes by: of the enabled
// transitions those of the smallest priority compete.
func enabledAtOnce(doc *countersign.AgentModel, s countersign.Scenario, inputs given, sim countersign.Simulation, overlaps map[model.Overlap]bool) {
	eachPoint(doc, s, inputs, sim, func(in *interpreter) {
		var enabled []countersign.Transition
		for _, tr := range doc.Transitions {
			if tr.FromStateID == in.sim.FinalStateID && in.holds(tr.ID, tr.Condition, &[]countersign.PredicateTrace{}) {
				enabled = append(enabled, tr)
			}
		}
		slices.SortStableFunc(enabled, func(a, b countersign.Transition) int { return cmp.Compare(a.Priority, b.Priority) })
		for i, a := range enabled {
			for _, b := range enabled[i+1:] {
				if a.Priority == enabled[0].Priority && b.Priority == a.Priority {
					overlaps[model.Overlap{First: a.ID, Second: b.ID}] = true
				}
			}
		}
	})
}
