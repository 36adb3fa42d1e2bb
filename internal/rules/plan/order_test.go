package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func TestOrderPutsDependenciesFirstAndTiesInPlanOrder(t *testing.T) {
	tests := []struct {
		name  string
		steps []countersign.Step
		want  []int
	}{
		{"independent", []countersign.Step{read("c"), read("a"), read("b")}, []int{0, 1, 2}},
		{"a chain against the list", []countersign.Step{read("c", "b"), read("b", "a"), read("a")}, []int{2, 1, 0}},
		{"what became ready comes before what stands later", []countersign.Step{read("b", "a"), read("a"), read("c")}, []int{1, 0, 2}},
		{"a diamond", []countersign.Step{read("d", "b", "c"), read("c", "a"), read("b", "a"), read("a")}, []int{3, 1, 2, 0}},
		{"one dependency named twice", []countersign.Step{read("b", "a", "a"), read("a")}, []int{1, 0}},
		{"an unknown dependency orders nothing", []countersign.Step{read("b", "nobody"), read("a")}, []int{0, 1}},
		{"no steps", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := plan.Order(test.steps)
			if diff := cmp.Diff(test.want, got); !ok || diff != "" {
				t.Errorf("ok %v: %s", ok, diff)
			}
		})
	}
}

func TestOrderRefusesACycle(t *testing.T) {
	for name, steps := range map[string][]countersign.Step{
		"itself":         {read("a", "a")},
		"each other":     {read("a", "b"), read("b", "a")},
		"behind a start": {read("s"), read("a", "s", "c"), read("b", "a"), read("c", "b")},
	} {
		if order, ok := plan.Order(steps); ok {
			t.Errorf("%s: ordered as %v", name, order)
		}
	}
}

// TestOrderIsTopologicalAndStable: every step once, after what it depends on;
// and among those that may come next, the one that stands first in the plan.
func TestOrderIsTopologicalAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := drawSteps(t)
		got, ok := plan.Order(steps)
		if !ok || len(got) != len(steps) {
			t.Fatalf("Order is %v, %v of %d steps", got, ok, len(steps))
		}
		done := map[string]bool{}
		for n, at := range got {
			for i := range steps {
				ready := !slices.Contains(got[:n], i) && !slices.ContainsFunc(steps[i].DependsOn, func(d string) bool { return !done[d] })
				if ready && i < at {
					t.Fatalf("step %d comes at %d, though step %d was ready and stands before it", at, n, i)
				}
				if i == at && !ready {
					t.Fatalf("step %d comes at %d, before its dependencies or twice", at, n)
				}
			}
			done[steps[at].ID] = true
		}
	})
}

// drawSteps makes steps without a cycle, listed in any order.
func drawSteps(t *rapid.T) []countersign.Step {
	n := rapid.IntRange(0, 20).Draw(t, "steps")
	var steps []countersign.Step
	for i := range n {
		s := read(string(rune('a' + i)))
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
				s.DependsOn = append(s.DependsOn, steps[j].ID)
			}
		}
		steps = append(steps, s)
	}
	return rapid.Permutation(steps).Draw(t, "listed")
}
