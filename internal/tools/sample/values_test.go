package sample_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/tools/sample"
)

func TestModelIsValidAndItsScenariosPass(t *testing.T) {
	doc := sample.RefundModel()
	v := model.Validate(&doc)
	if !v.Valid || len(v.Warnings) > 0 {
		t.Errorf("errors %v, warnings %v", v.Errors, v.Warnings)
	}
	machine, err := model.Compile(&doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Scenarios {
		if sim, err := machine.Simulate(s.ID, nil); err != nil || !sim.Passed || sim.Outcome != countersign.OutcomeFinal {
			t.Errorf("%s: %+v %v", s.ID, sim, err)
		}
	}
}

func TestModelIsWhatAClientMaySend(t *testing.T) {
	text, err := countersign.Marshal(countersign.ModelWrite{Document: sample.RefundModel()})
	if err != nil {
		t.Fatal(err)
	}
	if err := exactjson.Decode(text, &countersign.ModelWrite{}); err != nil {
		t.Error(err)
	}
}

const origin, secretEnv, projectID = "http://127.0.0.1:8081", "SHOP_SECRET", "default-shop"

func shopProject(t *testing.T) *countersign.Project {
	t.Helper()
	allowed := project.Allowed{Origins: []string{origin}, Credentials: credential.Plain([]string{secretEnv}, nil)}
	p, err := project.Validate(nil, "default", sample.ShopProject(origin, secretEnv), allowed)
	if err != nil {
		t.Fatal(err)
	}
	p.ID, p.Revision, p.Enabled = projectID, 1, true
	return &p
}

func TestProjectAsksForApprovalOfMoneyOnly(t *testing.T) {
	for _, c := range shopProject(t).Capabilities {
		if pays := c.Name == sample.CreateRefund || c.Name == sample.CreatePayout; c.NeedsApproval() != pays {
			t.Errorf("%s: approval %v", c.Name, c.NeedsApproval())
		}
		if c.HasSideEffect() != (c.Probe != "") {
			t.Errorf("%s: a side effect names its probe", c.Name)
		}
	}
}

func compiled(t *testing.T, scenario string) countersign.PlanWrite {
	t.Helper()
	m := &countersign.Model{ID: sample.RefundModelID, Revision: 1, Document: sample.RefundModel()}
	w, problems, err := plan.Compile(m, countersign.CompileRequest{ScenarioID: scenario, ActionBindings: sample.Bindings(projectID), Mode: countersign.ModeLive})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	return w
}

func checked(t *testing.T, w countersign.PlanWrite) countersign.Plan {
	t.Helper()
	m := &countersign.Model{ID: sample.RefundModelID, Revision: 1, Document: sample.RefundModel()}
	s := plan.Sources{Model: m, Projects: map[string]plan.Source{projectID: {Project: shopProject(t), InScope: true}}}
	return plan.New(w, s, nil, plan.Creation{})
}

func TestPlansOfTheScenariosAreReady(t *testing.T) {
	for scenario, want := range map[string]int{sample.ReturnedInTime: 3, sample.CloseReturnedGoods: 1} {
		if p := checked(t, compiled(t, scenario)); p.Status != countersign.PlanReady || len(p.Steps) != want {
			t.Errorf("%s: %s with %d steps: %v", scenario, p.Status, len(p.Steps), p.ValidationErrors)
		}
	}
}

func TestVerifiedOutputsReplaceWhatTheAgentSaid(t *testing.T) {
	w := compiled(t, sample.ReturnedInTime)
	w.Steps = sample.BindVerified(w.Steps)
	p := checked(t, w)
	if p.Status != countersign.PlanReady {
		t.Fatalf("%v", p.ValidationErrors)
	}
	refund := p.Step(sample.ActionRefund)
	if got := refund.InputBindings["amount"]; got != (countersign.Binding{StepID: sample.ActionReadOrder, Field: "total"}) {
		t.Errorf("the amount is bound to %+v", got)
	}
	if _, literal := refund.Input["amount"]; literal {
		t.Error("the amount is still what the agent said")
	}
}
