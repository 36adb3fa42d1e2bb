package model_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// failing is what the checks here need of a test, be it rapid's or testing's.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// replayed simulates a scenario as if it stood in the document.
func replayed(t failing, doc *countersign.AgentModel, s countersign.Scenario) countersign.Simulation {
	t.Helper()
	more := *doc
	s.ID = "replayed " + fmt.Sprint(len(doc.Scenarios))
	more.Scenarios = append(slices.Clone(doc.Scenarios), s)
	m, err := model.Compile(&more)
	if err != nil {
		t.Fatalf("with the scenario %v the document has errors: %v", s, err)
	}
	sim, err := m.Simulate(s.ID, nil)
	if err != nil {
		t.Fatalf("Simulate: %v", err)
	}
	return sim
}

// checkFinding replays a finding's witness: it comes to what it says and shows
// what the finding claims.
func checkFinding(t failing, doc *countersign.AgentModel, f model.Finding) {
	t.Helper()
	if f.Witness == nil {
		return
	}
	sim := replayed(t, doc, f.Witness.Scenario)
	if len(sim.Mismatches) > 0 || sim.Outcome != f.Witness.Outcome {
		t.Fatalf("%s %s: the witness came to %s with %v, not to %s", f.Path, f.Code, sim.Outcome, sim.Mismatches, f.Witness.Outcome)
	}
	shows := map[string]bool{
		model.TrapState:              sim.Outcome != "final" && slices.Contains(sim.Path, stateAt(doc, f.Path)),
		model.LoopPossible:           sim.Outcome == "loop" && slices.Contains(cycle(doc, f.Witness.Scenario, nil, sim), stateAt(doc, f.Path)),
		model.StuckPossible:          sim.Outcome == "stuck" && sim.FinalStateID == stateAt(doc, f.Path),
		model.OverlappingTransitions: overlapsAt(doc, f.Witness.Scenario, sim, f.Path),
	}
	if !shows[f.Code] {
		t.Fatalf("%s %s isn't shown by its witness, which goes %v (%s)", f.Path, f.Code, sim.Path, sim.Outcome)
	}
}

func stateAt(doc *countersign.AgentModel, path string) string {
	for i, s := range doc.States {
		if path == fmt.Sprintf("states[%d]", i) {
			return s.ID
		}
	}
	return ""
}

// overlapsAt reports that the transition at path is enabled somewhere on the way
// together with one before it.
func overlapsAt(doc *countersign.AgentModel, s countersign.Scenario, sim countersign.Simulation, path string) bool {
	overlaps := map[model.Overlap]bool{}
	enabledAtOnce(doc, s, nil, sim, overlaps)
	for i, tr := range doc.Transitions {
		for o := range overlaps {
			if path == transitionPath(i) && o.Second == tr.ID {
				return true
			}
		}
	}
	return false
}

func TestEveryWitnessShowsItsFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		for _, f := range model.Explore(mustCompile(t, doc), 100_000).Findings {
			checkFinding(t, doc, f)
		}
	})
}

// TestProposedScenariosPassAndCoverTheRest: with them every transition that can
// be taken is taken, but those that only runs that loop take.
func TestProposedScenariosPassAndCoverTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		before := model.Explore(mustCompile(t, doc), 100_000)
		doc.Scenarios = append(doc.Scenarios, before.Proposed...)
		m := mustCompile(t, doc)
		for _, s := range before.Proposed {
			if sim := mustSimulate(t, m, s.ID, nil); !sim.Passed {
				t.Fatalf("proposed scenario %s doesn't pass: %s", s.ID, mustEncode(t, sim))
			}
		}
		after := model.Explore(m, 100_000)
		if len(after.Proposed) > 0 {
			t.Fatalf("with the proposed scenarios %s more are proposed: %s", mustEncode(t, before.Proposed), mustEncode(t, after.Proposed))
		}
		if got, want := len(after.Covered)+len(after.Looped), len(after.Transitions); got != want {
			t.Fatalf("%d transitions are covered or only loop, %d can be taken", got, want)
		}
	})
}

func TestAValueOfEachKindIsSpelt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?`)
		constants := rapid.SliceOfN(number, 0, 6).Draw(t, "constants")
		if problem := model.SpellingFault("number", constants...); problem != "" {
			t.Fatalf("among %v: %s", constants, problem)
		}
	})
	for _, constants := range [][]string{
		{"1e-999999999", "0"}, {"1e999999999", "1"}, {"-1e999999999", "-5"}, {"999999999999999999999999", "1e24"}, {"-0.001", "-0.0010001"},
		{"1e999999999", "2e999999999"}, {"0.1", "0.2", "0.3"}, {"30", "31"}, {"500", "1e3"},
	} {
		if problem := model.SpellingFault("number", constants...); problem != "" {
			t.Errorf("among %v: %s", constants, problem)
		}
	}
	if problem := model.SpellingFault("text", `"another"`, `"another 2"`); problem != "" {
		t.Error(problem)
	}
	if problem := model.SpellingFault("boolean"); problem != "" {
		t.Error(problem)
	}
}
