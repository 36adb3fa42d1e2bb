package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// The words that test models are made of.

var null = raw("null")

func raw(text string) countersign.Scalar {
	return countersign.Scalar{Value: countersign.RawValue(text)}
}

func text(s string) countersign.Scalar { return countersign.Scalar{Value: countersign.String(s)} }

type given = map[string]countersign.Scalar

func predicate(variable, operator string, value ...countersign.Scalar) countersign.Condition {
	p := &countersign.Predicate{Kind: "predicate", VariableID: variable, Operator: operator}
	if len(value) > 0 {
		p.Value = value[0]
	}
	return countersign.Condition{Predicate: p}
}

func group(combinator string, members ...countersign.Condition) countersign.Condition {
	if members == nil {
		members = []countersign.Condition{}
	}
	return countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: combinator, Conditions: members}}
}

func and(members ...countersign.Condition) countersign.Condition { return group("AND", members...) }
func or(members ...countersign.Condition) countersign.Condition  { return group("OR", members...) }

func input(id, kind string, value countersign.Scalar, choices ...string) countersign.Variable {
	return countersign.Variable{ID: id, Kind: "input", Type: kind, DefaultValue: value, Choices: choices}
}

func memory(id, kind string, value countersign.Scalar, choices ...string) countersign.Variable {
	v := input(id, kind, value, choices...)
	v.Kind = "memory"
	return v
}

func arrow(id, from, to string, condition countersign.Condition) countersign.Transition {
	return countersign.Transition{ID: id, FromStateID: from, ToStateID: to, Condition: condition}
}

func acting(t countersign.Transition, action string) countersign.Transition {
	t.ActionID = action
	return t
}

func ranked(t countersign.Transition, priority int64) countersign.Transition {
	t.Priority = priority
	return t
}

func action(id, result string, effects ...countersign.MemoryEffect) countersign.Action {
	return countersign.Action{ID: id, SimulatedResult: result, MemoryEffects: effects}
}

func sets(variable string, value countersign.Scalar) countersign.MemoryEffect {
	return countersign.MemoryEffect{VariableID: variable, Value: value}
}

// states makes states of ids: the first is the start, and an id that ends in an
// exclamation mark is a final state's.
func states(ids ...string) []countersign.ModelState {
	var list []countersign.ModelState
	for i, id := range ids {
		name, final := strings.CutSuffix(id, "!")
		list = append(list, countersign.ModelState{ID: name, IsStart: i == 0, IsFinal: final})
	}
	return list
}

func compiled(t testing.TB, doc *countersign.AgentModel) *model.Machine {
	t.Helper()
	m, err := model.Compile(doc)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return m
}

// simulated runs the scenario "s" of a document.
func simulated(t testing.TB, doc *countersign.AgentModel, inputs given) countersign.Simulation {
	t.Helper()
	sim, err := compiled(t, doc).Simulate("s", inputs)
	if err != nil {
		t.Fatalf("Simulate: %v", err)
	}
	return sim
}

// parsed reads a document as the store does.
func parsed(t testing.TB, b []byte) *countersign.AgentModel {
	t.Helper()
	var doc countersign.AgentModel
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatalf("document: %v", err)
	}
	return &doc
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := countersign.Marshal(v)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	return string(b)
}

func wantEqual[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
