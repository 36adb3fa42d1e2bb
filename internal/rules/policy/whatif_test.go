package policy_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/policy"
)

// TestAPlayEndsWhereItsMeterDoes: the newest runs are judged first, and those that it didn't come
// to count for nothing.
func TestAPlayEndsWhereItsMeterDoes(t *testing.T) {
	input := map[string]countersign.Value{"amount": countersign.Int(5)}
	rule := countersign.ApprovalRule{Then: countersign.RuleAllow, Reason: "r", When: countersign.Condition{Predicate: &countersign.Predicate{VariableID: "amount", Operator: countersign.OpLessOrEqual, Value: countersign.Scalar{Value: countersign.Int(10)}}}}
	p := policy.Proposal{Named: map[string]string{"acme-shop/refund": countersign.ApprovalRiskBased}, Rules: map[string][]countersign.ApprovalRule{"acme-shop/refund": {rule}}}
	var runs []policy.Past
	for _, id := range []string{"run-3", "run-2", "run-1"} { // the newest first
		r := live(id, step("refund", true, func(s *countersign.StepRun) { s.Input = input }))
		runs = append(runs, policy.Past{Run: r, Plan: shop()})
	}
	whole := cost.New(nil, 1<<20, 0)
	played, out := policy.Play(whole, p, runs)
	if played != 3 || len(out) != 3 || out[0].Was != countersign.RuleAsk || out[0].Then != countersign.RuleAllow {
		t.Fatalf("%d played: %+v", played, out)
	}
	played, out = policy.Play(cost.New(nil, whole.Spent()-1, 0), p, runs)
	if played != 2 || len(out) != 2 || out[0].Run.ID != "run-3" || out[1].Run.ID != "run-2" {
		t.Errorf("with less than all takes, %d are played: %+v", played, out)
	}
	if played, out = policy.Play(cost.New(nil, 0, 0), p, runs); played != 0 || len(out) != 0 {
		t.Errorf("with nothing, %d are played", played)
	}
}
