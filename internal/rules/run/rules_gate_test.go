package run_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// ruledWorld is a run of one payment, which the shop lets out unless a rule says otherwise.
func ruledWorld(t *testing.T, amount string, rules ...countersign.ApprovalRule) *world {
	t.Helper()
	project := shop()
	project.Capability("pay").ApprovalRules = rules
	p := &countersign.Plan{
		ID: "plan-1", Status: countersign.PlanReady, Mode: countersign.ModeLive, ModelID: "refunds", ModelRevision: 1, PlanDigest: "d",
		Projects: []countersign.ProjectRef{{ID: project.ID, Revision: project.Revision}}, ProjectSnapshots: []countersign.Project{*project},
		Steps: []countersign.Step{{ID: "step", Name: "step", ProjectID: project.ID, Capability: "pay", Input: map[string]countersign.Value{"amount": countersign.RawValue(amount)}}},
	}
	return newWorld(t, p)
}

func above(amount, then string, approvals int64) countersign.ApprovalRule {
	return countersign.ApprovalRule{
		When: countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "amount", Operator: countersign.OpGreater, Value: countersign.Scalar{Value: countersign.RawValue(amount)}}},
		Then: then, Approvals: approvals, Reason: "above " + amount,
	}
}

func TestAStepThatARuleDeniesFailsAndIsNotSent(t *testing.T) {
	w := ruledWorld(t, "1001", above("1000", countersign.RuleDeny, 0), above("10", countersign.RuleAsk, 0))
	res := w.must(run.Resumed{})
	if s := w.step("step"); s.Status != countersign.StepFailed || s.Error.Code != countersign.CodeDeniedByRule || s.Error.Message != "above 1000" || s.RequestDigest == "" || s.ApprovalRequired {
		t.Errorf("%s", dumped(s))
	}
	if w.run.Status != countersign.RunFailed || res.Call != nil || res.Ask != nil {
		t.Errorf("%s, %s", w.run.Status, dumped(res))
	}
}

func TestAStepThatNoRuleConcernsIsLetOutByItsPolicy(t *testing.T) {
	if res := ruledWorld(t, "10", above("10", countersign.RuleAsk, 0)).must(run.Resumed{}); res.Call == nil {
		t.Errorf("%s", dumped(res))
	}
}

// An approval that needs another decision stays with the run that waits for it, and
// expires with it.
func TestARunWaitsUntilEnoughHaveApproved(t *testing.T) {
	w := ruledWorld(t, "11", above("10", countersign.RuleAsk, 2))
	if ask := w.must(run.Resumed{}).Ask; ask == nil || ask.ApprovalsNeeded != 2 || len(ask.Reasons) != 1 {
		t.Fatalf("%s", dumped(ask))
	}
	env, held := w.env(decide(countersign.ApprovalApproved))
	held.Status, held.Decisions = countersign.ApprovalPending, []countersign.GivenDecision{{Decision: countersign.ApprovalApproved}}
	res, err := run.Apply(env, w.run, decide(countersign.ApprovalApproved))
	if err != nil || res.Call != nil || run.WaitsForSlot(res.Run) || res.Run.Status != countersign.RunWaitingApproval || len(res.Notes) != 1 || res.Notes[0].After != string(countersign.ApprovalPending) {
		t.Fatalf("%v %s", err, dumped(res))
	}
	w.run, w.approvals[held.ID], w.now = res.Run, held, w.now.Add(ttl)
	w.must(run.Expired{})
	if w.run.Status != countersign.RunFailed || !strings.Contains(w.run.Error, "too few approved in time") {
		t.Errorf("%s %s", w.run.Status, w.run.Error)
	}
}
