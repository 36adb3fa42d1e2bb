package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// guarded is a model of 20 states with two guarded transitions each: the first
// of them never holds, the second, with an action, leads on.
func guarded() *countersign.AgentModel {
	doc := &countersign.AgentModel{
		Variables: []countersign.Variable{
			input("amount", "number", raw("120.50")), input("color", "choice", text("red"), "red", "green"), memory("step", "number", raw("0")),
		},
		Scenarios: []countersign.Scenario{{ID: "s", ExpectedStateID: "s19", ExpectedResult: "done"}},
	}
	for i := range 20 {
		id, next := fmt.Sprintf("s%d", i), fmt.Sprintf("s%d", i+1)
		doc.States = append(doc.States, countersign.ModelState{ID: id, IsStart: i == 0, IsFinal: i == 19})
		doc.Scenarios[0].ExpectedPath = append(doc.Scenarios[0].ExpectedPath, id)
		if i == 19 {
			break
		}
		doc.Actions = append(doc.Actions, action("a"+id, "done", sets("step", raw(fmt.Sprint(i+1)))))
		doc.Transitions = append(doc.Transitions,
			arrow("skip-"+id, id, "s19", and(predicate("amount", "gt", raw("1000")), predicate("color", "eq", text("green")))),
			acting(ranked(arrow("go-"+id, id, next, and(predicate("amount", "lte", raw("1000")), predicate("step", "eq", raw(fmt.Sprint(i))))), 1), "a"+id))
	}
	return doc
}

func BenchmarkCompile(b *testing.B) {
	doc := guarded()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := model.Compile(doc); err != nil {
			b.Fatal(err)
		}
	}
	perTransition(b, len(doc.Transitions))
}

func BenchmarkValidate(b *testing.B) {
	doc := guarded()
	b.ReportAllocs()
	for b.Loop() {
		if v := model.Validate(doc); !v.Valid {
			b.Fatal(v)
		}
	}
	perTransition(b, len(doc.Transitions))
}

// BenchmarkStep is the stepping alone, without what a simulation shows. `bench
// simulation` reads its ns/transition.
func BenchmarkStep(b *testing.B) {
	doc := guarded()
	course := compiled(b, doc).Courses(&doc.Scenarios[0])
	b.ReportAllocs()
	taken := 0
	for b.Loop() {
		n, outcome := course()
		if outcome != countersign.OutcomeFinal {
			b.Fatal(outcome)
		}
		taken = n
	}
	perTransition(b, taken)
}

func BenchmarkSimulate(b *testing.B) {
	m := compiled(b, guarded())
	b.ReportAllocs()
	taken := 0
	for b.Loop() {
		sim, err := m.Simulate("s", nil)
		if err != nil || !sim.Passed {
			b.Fatal(sim.Mismatches, err)
		}
		taken = len(sim.Trace)
	}
	perTransition(b, taken)
}

func BenchmarkSimulateLongLoop(b *testing.B) {
	m := compiled(b, counter(14, true))
	b.ReportAllocs()
	taken := 0
	for b.Loop() {
		sim, err := m.Simulate("s", nil)
		if err != nil {
			b.Fatal(err)
		}
		taken = len(sim.Trace)
	}
	perTransition(b, taken)
}

func perTransition(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/transition")
}

// mixed is a model of 30 states and 8 boolean inputs in which every transition
// looks at three inputs, in no order, and may lead back.
func mixed() *countersign.AgentModel {
	random := rand.New(rand.NewPCG(30, 8))
	doc := &countersign.AgentModel{Variables: []countersign.Variable{memory("again", "boolean", raw("false"))}}
	for i := range 8 {
		doc.Variables = append(doc.Variables, input(fmt.Sprint("v", i), "boolean", null))
	}
	for i := range 30 {
		id := fmt.Sprint("s", i)
		doc.States = append(doc.States, countersign.ModelState{ID: id, IsStart: i == 0, IsFinal: i == 29})
		for j := range 4 {
			var looks []countersign.Condition
			for range 3 {
				looks = append(looks, predicate(fmt.Sprint("v", random.IntN(8)), "eq", raw([]string{"true", "false"}[random.IntN(2)])))
			}
			if i < 29 {
				to := fmt.Sprint("s", random.IntN(30))
				doc.Transitions = append(doc.Transitions, ranked(arrow(fmt.Sprint(id, "-", j), id, to, group([]string{"AND", "OR"}[j%2], looks...)), int64(j)))
			}
		}
	}
	doc.Scenarios = []countersign.Scenario{{ID: "s", ExpectedStateID: "s29"}}
	return doc
}

// BenchmarkExplore has the figure of issue 10: a model of 30 states with 8
// boolean inputs, as people write them (one input a state) and with all mixed.
func BenchmarkExplore(b *testing.B) {
	for name, doc := range map[string]*countersign.AgentModel{
		"one input a state": workflow(rand.New(rand.NewPCG(1, 1)), 30, 8),
		"inputs mixed":      mixed(),
	} {
		b.Run(name, func(b *testing.B) {
			m := compiled(b, doc)
			b.ReportAllocs()
			var e model.Exploration
			for b.Loop() {
				e = model.Explore(m, 200_000)
			}
			if !e.Complete {
				b.Fatal("not complete")
			}
			b.ReportMetric(float64(e.Pairs), "pairs")
		})
	}
}

// BenchmarkBudgetStepping: what stepping allocates doesn't grow with the course;
// a simulation allocates its answer.
func BenchmarkBudgetStepping(b *testing.B) {
	doc := guarded()
	course := compiled(b, doc).Courses(&doc.Scenarios[0])
	allocbudget.Allocations(b, 8, func() { course() })
}

func BenchmarkBudgetSimulate(b *testing.B) {
	m := compiled(b, guarded())
	allocbudget.Allocations(b, 45, func() {
		if sim, err := m.Simulate("s", nil); err != nil || !sim.Passed {
			b.Fatal(sim.Mismatches, err)
		}
	})
}
