package model_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

func mustCompile(t *rapid.T, doc *countersign.AgentModel) *model.Machine {
	m, err := model.Compile(doc)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return m
}

func mustSimulate(t *rapid.T, m *model.Machine, scenario string, inputs given) countersign.Simulation {
	sim, err := m.Simulate(scenario, inputs)
	if err != nil {
		t.Fatalf("Simulate: %v", err)
	}
	return sim
}

func mustEncode(t *rapid.T, v any) string {
	b, err := countersign.Marshal(v)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	return string(b)
}

func TestSimulationEqualsTheInterpreters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		m := mustCompile(t, doc)
		inputs := generator{t, doc}.layer("input")
		for i := range doc.Scenarios {
			s := &doc.Scenarios[i]
			got := mustEncode(t, mustSimulate(t, m, s.ID, inputs))
			if want := mustEncode(t, interpret(doc, s, inputs)); got != want {
				t.Fatalf("document: %s\ninputs: %v\ngot:  %s\nwant: %s", mustEncode(t, doc), inputs, got, want)
			}
		}
	})
}

func TestSimulationIsDeterministicByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		again := parsedRapid(t, mustEncode(t, doc))
		inputs := generator{t, doc}.layer("input")
		first := mustEncode(t, mustSimulate(t, mustCompile(t, doc), "sc0", inputs))
		second := mustEncode(t, mustSimulate(t, mustCompile(t, again), "sc0", inputs))
		if first != second {
			t.Fatalf("the same document and inputs gave\n%s\nand\n%s", first, second)
		}
	})
}

func parsedRapid(t *rapid.T, text string) *countersign.AgentModel {
	var doc countersign.AgentModel
	if err := doc.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("document: %v", err)
	}
	return &doc
}

func TestWalkIsTheSimulationAndItsActions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		m := mustCompile(t, doc)
		sim, visits, err := m.Walk("sc0", nil)
		if err != nil {
			t.Fatalf("Walk: %v", err)
		}
		if got, want := mustEncode(t, sim), mustEncode(t, mustSimulate(t, m, "sc0", nil)); got != want {
			t.Fatalf("Walk simulated %s, Simulate %s", got, want)
		}
		for _, entry := range sim.Trace {
			if entry.ActionID == "" {
				continue
			}
			checkVisit(t, visits, entry)
			visits = visits[1:]
		}
		if len(visits) > 0 {
			t.Fatalf("visits beyond the trace: %v", visits)
		}
	})
}

func checkVisit(t *rapid.T, visits []model.ActionVisit, entry countersign.TraceEntry) {
	if len(visits) == 0 || visits[0].ActionID != entry.ActionID || visits[0].TransitionID != entry.TransitionID {
		t.Fatalf("visits %v, want action %s of %s first", visits, entry.ActionID, entry.TransitionID)
	}
	for _, p := range entry.Predicates {
		if visits[0].Values[p.VariableID].Raw() != p.Actual.Raw() {
			t.Fatalf("visit of %s has %s = %s, its transition saw %s", entry.ActionID, p.VariableID, visits[0].Values[p.VariableID].Raw(), p.Actual.Raw())
		}
	}
}

// TestWarningsAreTrue: what is called unreachable is not reached, what is never
// taken is not taken, and exactly the scenarios that don't pass are named.
func TestWarningsAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		m := mustCompile(t, doc)
		warnings := found(slices.DeleteFunc(model.Validate(doc).Warnings, func(p countersign.Problem) bool {
			return p.Code == model.ScenarioCoversNothingNew // which a scenario that passes can do
		})) + "\n"
		inputs := generator{t, doc}.layer("input")
		for i, s := range doc.Scenarios {
			sim := mustSimulate(t, m, s.ID, nil)
			if named := strings.Contains(warnings, "scenarios["+string(rune('0'+i))+"]"); named == sim.Passed {
				t.Fatalf("scenario %s passed: %v, warnings:\n%s", s.ID, sim.Passed, warnings)
			}
			checkTaken(t, doc, warnings, sim)
			checkTaken(t, doc, warnings, mustSimulate(t, m, s.ID, inputs))
		}
	})
}

func checkTaken(t *rapid.T, doc *countersign.AgentModel, warnings string, sim countersign.Simulation) {
	for i, s := range doc.States {
		if slices.Contains(sim.Path, s.ID) && strings.Contains(warnings, "states["+string(rune('0'+i))+"] unreachable_state\n") {
			t.Fatalf("state %s is on the path and was called unreachable:\n%s", s.ID, warnings)
		}
	}
	for _, entry := range sim.Trace {
		i := slices.IndexFunc(doc.Transitions, func(t countersign.Transition) bool { return t.ID == entry.TransitionID })
		if strings.Contains(warnings, found([]countersign.Problem{{Path: transitionPath(i), Code: model.TransitionNeverTaken}})+"\n") {
			t.Fatalf("transition %s was taken and called never taken:\n%s", entry.TransitionID, warnings)
		}
	}
}

func transitionPath(i int) string { return "transitions[" + countersign.Int(int64(i)).Raw() + "]" }
