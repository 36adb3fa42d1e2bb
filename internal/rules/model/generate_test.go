package model_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

// What random models are made of: few values in many spellings, so that
// conditions are met and missed about as often.
var (
	numberPool = []string{"0", "-0", "1", "1.0", "10e-1", "2", "0.2E+1", "1.5", "-3", "9007199254740992", "9007199254740993"}
	textPool   = []string{`"a"`, `"\u0061"`, `"b"`, `""`, `"ä<&>"`}
	choicePool = []string{`"red"`, `"green"`, `"blue"`}
	boolPool   = []string{"true", "false"}

	poolOf = map[string][]string{"number": numberPool, "text": textPool, "choice": choicePool, "boolean": boolPool}

	// sampled has a value of every kind that conditions over these pools can tell
	// apart: each of them and what lies between and beside.
	sampled = map[string][]string{
		"number":  {"null", "-4", "-3", "-1", "0", "0.5", "1", "1.25", "1.5", "1.75", "2", "3", "9007199254740992", "9007199254740992.5", "9007199254740993", "1e30"},
		"text":    {"null", `"a"`, `"b"`, `""`, `"ä<&>"`, `"zz"`},
		"choice":  {"null", `"red"`, `"green"`, `"blue"`},
		"boolean": {"null", "true", "false"},
	}
)

// generator draws a document that is legal in everything.
type generator struct {
	*rapid.T
	doc *countersign.AgentModel
}

func drawDocument(t *rapid.T) *countersign.AgentModel {
	g := generator{t, &countersign.AgentModel{}}
	g.variables()
	g.states()
	g.actions()
	g.transitions()
	g.scenarios()
	return g.doc
}

func (g generator) number(low, high int, label string) int {
	return rapid.IntRange(low, high).Draw(g.T, label)
}

func (g generator) value(kind string) countersign.Scalar {
	if g.number(0, 4, "null") == 0 {
		return null
	}
	return raw(rapid.SampledFrom(poolOf[kind]).Draw(g.T, kind))
}

func (g generator) variables() {
	for i := range g.number(1, 5, "variables") {
		kind := rapid.SampledFrom([]string{"number", "boolean", "text", "choice"}).Draw(g.T, "type")
		v := input(fmt.Sprintf("v%d", i), kind, g.value(kind))
		if kind == "choice" {
			v.Choices = []string{"red", "green", "blue"}
		}
		if g.number(0, 2, "kind") > 0 {
			v.Kind = "memory"
		}
		g.doc.Variables = append(g.doc.Variables, v)
	}
}

func (g generator) states() {
	n := g.number(1, 6, "states")
	start := g.number(0, n-1, "start")
	for i := range n {
		g.doc.States = append(g.doc.States, countersign.ModelState{
			ID: fmt.Sprintf("s%d", i), IsStart: i == start, IsFinal: g.number(0, 5, "final") == 0,
		})
	}
}

func (g generator) ofKind(kind string) []countersign.Variable {
	var list []countersign.Variable
	for _, v := range g.doc.Variables {
		if v.Kind == kind {
			list = append(list, v)
		}
	}
	return list
}

func (g generator) actions() {
	cells := g.ofKind("memory")
	for i := range g.number(0, 4, "actions") {
		a := action(fmt.Sprintf("a%d", i), rapid.SampledFrom([]string{"", "done", "<ok>"}).Draw(g.T, "result"))
		for range g.number(0, 3, "effects") {
			if len(cells) > 0 {
				v := rapid.SampledFrom(cells).Draw(g.T, "cell")
				a.MemoryEffects = append(a.MemoryEffects, sets(v.ID, g.value(v.Type)))
			}
		}
		g.doc.Actions = append(g.doc.Actions, a)
	}
}

func (g generator) transitions() {
	var open []string
	for _, s := range g.doc.States {
		if !s.IsFinal {
			open = append(open, s.ID)
		}
	}
	if len(open) == 0 {
		return
	}
	for i := range g.number(0, 14, "transitions") {
		to := rapid.SampledFrom(g.doc.States).Draw(g.T, "to").ID
		t := arrow(fmt.Sprintf("t%d", i), rapid.SampledFrom(open).Draw(g.T, "from"), to, g.condition(3))
		t.Priority = int64(g.number(0, 2, "priority"))
		if n := len(g.doc.Actions); n > 0 && g.number(0, 2, "acts") > 0 {
			t.ActionID = g.doc.Actions[g.number(0, n-1, "action")].ID
		}
		g.doc.Transitions = append(g.doc.Transitions, t)
	}
}

func (g generator) condition(depth int) countersign.Condition {
	if depth == 0 || g.number(0, 1, "leaf") == 0 {
		return g.predicate()
	}
	members := []countersign.Condition{}
	for range g.number(0, 3, "members") {
		members = append(members, g.condition(depth-1))
	}
	return group(rapid.SampledFrom([]string{"AND", "OR"}).Draw(g.T, "combinator"), members...)
}

func (g generator) predicate() countersign.Condition {
	v := rapid.SampledFrom(g.doc.Variables).Draw(g.T, "variable")
	operators := []string{"eq", "neq", "isUnknown", "isKnown"}
	if v.Type == "number" {
		operators = append(operators, "gt", "gte", "lt", "lte")
	}
	operator := rapid.SampledFrom(operators).Draw(g.T, "operator")
	if (operator == "isUnknown" || operator == "isKnown") && g.number(0, 3, "idle value") > 0 {
		return predicate(v.ID, operator)
	}
	return predicate(v.ID, operator, g.value(v.Type))
}

func (g generator) scenarios() {
	for i := range g.number(1, 3, "scenarios") {
		s := countersign.Scenario{
			ID: fmt.Sprintf("sc%d", i), Inputs: g.layer("input"), InitialMemory: g.layer("memory"),
			ExpectedStateID: rapid.SampledFrom(g.doc.States).Draw(g.T, "expected").ID,
		}
		g.doc.Scenarios = append(g.doc.Scenarios, s)
		if last := &g.doc.Scenarios[i]; g.number(0, 2, "right") > 0 { // mostly expect what really happens
			sim := interpret(g.doc, last, nil)
			last.ExpectedStateID, last.ExpectedPath, last.ExpectedResult = sim.FinalStateID, sim.Path, sim.Result
		}
	}
}

// layer gives some of the variables of a kind a value.
func (g generator) layer(kind string) given {
	values := given{}
	for _, v := range g.ofKind(kind) {
		if g.number(0, 1, "given") == 0 {
			values[v.ID] = g.value(v.Type)
		}
	}
	return values
}
