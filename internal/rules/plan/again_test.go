package plan_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func again(p countersign.Plan) plan.Again {
	changed := map[string]map[string]countersign.Value{"pay": {"amount": countersign.RawValue("2.50")}}
	return plan.OfRun(&p, changed, 7, "typo")
}

func twoSteps() []countersign.Step {
	return []countersign.Step{
		{ID: "find", ProjectID: "acme-shop", Capability: "find", Input: map[string]countersign.Value{"order": countersign.String("A-1")}},
		{ID: "pay", ProjectID: "acme-shop", Capability: "pay", Input: map[string]countersign.Value{"amount": countersign.RawValue("25.00"), "note": countersign.String("late")}},
	}
}

func TestAPlanIsStartedAnewWithChangedInputsOnly(t *testing.T) {
	p := countersign.Plan{ID: "plan-1", Name: "refund", ModelID: "refunds", ModelRevision: 3, Mode: countersign.ModeLive, Steps: twoSteps()}
	w := again(p).Plan
	if w == nil || w.ID != "" || w.ModelRevision != 7 || w.Mode != countersign.ModeLive || w.Name != "refund" {
		t.Fatalf("got %+v", w)
	}
	if got := w.Steps[0].Input["order"].Raw(); got != `"A-1"` {
		t.Errorf("the step that nobody changed has order %s", got)
	}
	if in := w.Steps[1].Input; len(in) != 1 || in["amount"].Raw() != "2.50" {
		t.Errorf("the changed step has %v; its number keeps its digits", in)
	}
	if len(p.Steps[1].Input) != 2 {
		t.Error("the plan itself was changed")
	}
}

func TestWhatAManifestFixesIsNotGivenAgain(t *testing.T) {
	fixed := map[string]map[string]countersign.Value{"pay": {"note": countersign.String("late")}}
	steps := twoSteps()[1:]
	steps[0].AgentID = "bot"
	p := countersign.Plan{ID: "plan-1", Mode: countersign.ModeDryRun, Steps: steps, Agents: []countersign.PlanAgent{{ID: "bot", ExecutorInputs: fixed}}}
	if own := plan.Inputs(&p)["pay"]; len(own) != 1 || own["amount"].Raw() != "25.00" {
		t.Errorf("a caller may choose %v, want the amount alone", own)
	}
	a := again(p)
	if a.ID != "bot" || a.Agent == nil || a.Agent.ExpectedRevision != 7 || a.Agent.Reason != "typo" || a.Agent.Inputs["amount"].Raw() != "2.50" {
		t.Errorf("got %+v", a)
	}
	p.Team = &countersign.PlanTeam{ID: "crew"}
	if a := again(p); a.ID != "crew" || a.Team == nil || a.Team.Inputs["pay"]["amount"].Raw() != "2.50" {
		t.Errorf("got %+v", a)
	}
}

func TestACallIsMadeAgainByItsProject(t *testing.T) {
	a := again(countersign.Plan{ID: "plan-1", Mode: countersign.ModeLive, Steps: twoSteps()[1:]})
	if a.ID != "acme-shop" || a.Call == nil || a.Call.Capability != "pay" || a.Call.Mode != countersign.ModeLive || a.Call.Inputs["amount"].Raw() != "2.50" {
		t.Errorf("got %+v", a)
	}
}
