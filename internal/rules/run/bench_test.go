package run_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// BenchmarkBudgetStep is the decision on an answer together with the next step's
// intent: what happens once a step.
func BenchmarkBudgetStep(b *testing.B) {
	pay := func(id string, after ...string) countersign.Step {
		s := countersign.Step{ID: id, Capability: "pay", DependsOn: append([]string{}, after...), Input: map[string]countersign.Value{"amount": countersign.String("5")}}
		s.Expectation = &countersign.Expectation{Field: "id", Equals: countersign.String("o-1")}
		return s
	}
	w := newWorld(b, order(b, countersign.ModeLive, pay("a"), pay("b", "a"))).play(run.Resumed{})
	answer := w.answer("a", answered(200, `{"result":{"id":"o-1"}}`))
	env, _ := w.env(answer)
	allocbudget.Allocations(b, 60, func() {
		if res, err := run.Apply(env, w.run, answer); err != nil || res.Call == nil {
			b.Fatal(res, err)
		}
	})
}
