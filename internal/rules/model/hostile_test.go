package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// hostile are documents near the 1 MiB that a request may have, each built to
// make some part of a validation expensive.
var hostile = []struct {
	name string
	doc  func() *countersign.AgentModel
}{
	{"a long chain of states", func() *countersign.AgentModel { return chain(5_000, 1) }},
	{"many scenarios along a chain", func() *countersign.AgentModel { return chain(2_000, 3_000) }},
	{"many transitions of one state", fan},
	{"many values of one variable", func() *countersign.AgentModel { return comparing(8_000, "number") }},
	{"many choices, each wrong", func() *countersign.AgentModel { return comparing(8_000, "choice") }},
	{"conditions nested 60 levels", nested},
	{"states just below the cases judged", crowded},
	{"scenarios that count", func() *countersign.AgentModel {
		doc := counter(60, true)
		for i := range 3_000 {
			doc.Scenarios = append(doc.Scenarios, countersign.Scenario{ID: fmt.Sprint(i), ExpectedStateID: "full"})
		}
		return doc
	}},
	{"many variables and scenarios", func() *countersign.AgentModel { return withIdle(chain(2, 3_000), 5_000) }},
	{"a text of 500 kB looked at in every step", verbose},
}

func chain(n, scenarios int) *countersign.AgentModel {
	doc := &countersign.AgentModel{}
	for i := range n {
		doc.States = append(doc.States, countersign.ModelState{ID: fmt.Sprint("s", i), IsStart: i == 0, IsFinal: i == n-1})
		if i > 0 {
			doc.Transitions = append(doc.Transitions, arrow(fmt.Sprint("t", i), fmt.Sprint("s", i-1), fmt.Sprint("s", i), and()))
		}
	}
	for i := range scenarios {
		doc.Scenarios = append(doc.Scenarios, countersign.Scenario{ID: fmt.Sprint("c", i), ExpectedStateID: "s0"})
	}
	return doc
}

func fan() *countersign.AgentModel {
	doc := &countersign.AgentModel{States: states("a", "b!"), Variables: []countersign.Variable{input("v", "number", raw("-1"))}}
	for i := range 6_000 {
		doc.Transitions = append(doc.Transitions, ranked(arrow(fmt.Sprint("t", i), "a", "b", predicate("v", "eq", raw(fmt.Sprint(i)))), int64(i%7)))
	}
	doc.Scenarios = []countersign.Scenario{{ID: "s", ExpectedStateID: "b"}}
	return doc
}

func comparing(n int, kind string) *countersign.AgentModel {
	doc := &countersign.AgentModel{States: states("a", "b!"), Variables: []countersign.Variable{input("v", kind, null, "only")}}
	var members []countersign.Condition
	for i := range n {
		value := raw(strings.Repeat("7", 60) + fmt.Sprint(n-i))
		if kind == "choice" {
			value = text(value.Raw())
		}
		members = append(members, predicate("v", "neq", value))
	}
	doc.Transitions = []countersign.Transition{arrow("t", "a", "b", and(members...))}
	return doc
}

func nested() *countersign.AgentModel {
	doc := &countersign.AgentModel{States: states("a", "b!"), Variables: []countersign.Variable{input("v", "number", null)}}
	for i := range 150 {
		c := predicate("v", "gt", raw("1"))
		for depth := range 60 {
			c = group([]string{"AND", "OR"}[depth%2], predicate("x", "eq", null), c)
		}
		doc.Transitions = append(doc.Transitions, arrow(fmt.Sprint("t", i), "a", "b", c))
	}
	return doc
}

// crowded has states that test as many variables as are still run through case
// by case.
func crowded() *countersign.AgentModel {
	doc := chain(1_000, 0)
	for i := range 8 {
		doc.Variables = append(doc.Variables, input(fmt.Sprint("v", i), "boolean", null))
	}
	for i := range doc.Transitions {
		var members []countersign.Condition
		for _, v := range doc.Variables {
			members = append(members, predicate(v.ID, "isKnown"))
		}
		doc.Transitions[i].Condition = and(members...)
	}
	return doc
}

// verbose counts, and every step looks at a long text.
func verbose() *countersign.AgentModel {
	doc := counter(20, false)
	doc.Variables = append(doc.Variables, memory("note", "text", text(strings.Repeat("x", 500_000))))
	for i := range doc.Transitions {
		doc.Transitions[i].Condition = and(predicate("note", "isKnown"), doc.Transitions[i].Condition)
	}
	return doc
}

func TestAnAnswerFullOfLongTextsIsRefused(t *testing.T) {
	_, err := compiled(t, verbose()).Simulate("s", nil)
	wantEqual(t, "code", countersign.ErrorCode(err), countersign.CodeInvalidRequest)
}

// TestHostileDocumentsAreValidated has no clock: what is quadratic here doesn't
// end within the test's time. BenchmarkValidateHostile has the figures.
func TestHostileDocumentsAreValidated(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			doc := h.doc()
			asked, answered := len(encoded(t, doc)), len(encoded(t, model.Validate(doc)))
			t.Logf("document of %d bytes, validation of %d", asked, answered)
			if answered > 16*asked {
				t.Errorf("validation of %d bytes for a document of %d", answered, asked)
			}
		})
	}
}

func BenchmarkValidateHostile(b *testing.B) {
	for _, h := range hostile {
		b.Run(h.name, func(b *testing.B) {
			doc := h.doc()
			b.ReportAllocs()
			for b.Loop() {
				model.Validate(doc)
			}
		})
	}
}

// BenchmarkExploreHostile shows what the default limit of `models explore` bounds.
func BenchmarkExploreHostile(b *testing.B) {
	for _, h := range hostile {
		doc := h.doc()
		m, err := model.Compile(doc)
		if err != nil {
			continue // some of them are full of errors
		}
		b.Run(h.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e := model.Explore(m, 200_000)
				b.ReportMetric(float64(e.Pairs), "pairs")
			}
		})
	}
}
