package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestFixedInputsThatAreSensitiveAreMaskedForAViewerAndNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	w.shop.On("POST", "/body", harness.Answering(200, `{"iban":"`+secretIBAN+`","ok":true}`))
	fixed := fixing(agentItem("fixed", "body", "refund"), doc{"body": doc{"card": secretCard, "text": "shown"}})
	items := syncTo(w.operator, "default-private", fixed, agentItem("open", "body", "refund")).OK(t).Is(t, "items.0.executorInputs.body.card", secretCard)
	ids := []string{items.At("items.0.id").Text(), items.At("items.1.id").Text()}
	for _, id := range ids {
		w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t)
	}
	first := expecting(teamStep("first", ids[0], "body", doc{}), "iban", secretIBAN)
	team := teamOf(ids, first, after(teamStep("second", ids[1], "body", doc{"card": secretCard}), "first"))
	w.operator.Put("/teams/t", team).OK(t)
	ran := w.teamRun("t", 1, nil).OK(t).At("id").Text()
	w.approve(t, ran)
	harness.Until(t, "the second approval", func() bool {
		return w.viewer.Get("/runs/"+ran).OK(t).At("waitingFor.stepId").Text() == "second"
	})
	w.sees(t, ran)
	w.approve(t, ran)
	w.reaches(t, ran, "COMPLETED")
	alone := harness.With(agentRun("LIVE", "body", nil), "expectation", doc{"field": "iban", "equals": "DE-hidden-other"})
	failed := w.asks(ids[0], alone).OK(t).At("id").Text()
	w.approve(t, failed)
	w.reaches(t, failed, "FAILED").Has(t, "error", "hidden")
	w.sees(t, ran)
	w.sees(t, failed)
	for _, path := range []string{"/agents", "/agents?projectId=default-private", "/agents/" + ids[0], "/teams", "/teams/t"} {
		if a := w.viewer.Get(path); strings.Contains(a.Raw, "hidden") || a.Status != 200 {
			t.Errorf("a viewer sees it: %s", a)
		}
	}
	w.viewer.Get("/agents/"+ids[0]).OK(t).Is(t, "executorInputs.body.text", "shown")
	seen := w.viewer.Get("/runs/"+ran).OK(t).Is(t, "steps.0.input.text", "shown").Is(t, "planSnapshot.agents.0.executorInputs.body.text", "shown")
	if !seen.At("planSnapshot.agents.0.executorInputs.body.card").Exists() || !seen.At("planSnapshot.steps.0.input.card").Exists() {
		t.Error("that there is a card is no secret")
	}
	for _, who := range []*harness.Client{w.operator, w.approver, w.tenantAdmin, w.principal(t, "VIEWER", "APPROVER")} {
		who.Get("/agents/"+ids[0]).OK(t).Is(t, "executorInputs.body.card", secretCard)
		who.Get("/agents").OK(t).Has(t, "items", secretCard)
		who.Get("/teams/t").OK(t).Is(t, "steps.1.input.card", secretCard).Is(t, "steps.0.expectation.equals", secretIBAN)
		who.Get("/runs/"+ran).OK(t).Is(t, "planSnapshot.agents.0.executorInputs.body.card", secretCard).Is(t, "steps.0.input.card", secretCard).Is(t, "steps.0.output.iban", secretIBAN)
	}
}

func TestWhatIsFixedForACapabilityThatIsGoneIsMaskedWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	fixed := fixing(agentItem("fixed", "body", "refund"), doc{"body": doc{"card": secretCard}})
	items := syncTo(w.operator, "default-private", fixed, agentItem("open", "body", "refund")).OK(t)
	ids := []string{items.At("items.0.id").Text(), items.At("items.1.id").Text()}
	for _, id := range ids {
		w.tenantAdmin.Post("/agents/"+id+"/admit", doc{"reason": "r"}).OK(t)
	}
	given := expecting(teamStep("s", ids[1], "body", doc{"card": secretCard}), "iban", secretIBAN)
	w.operator.Put("/teams/t", teamOf(ids, given)).OK(t)
	without := harness.With(private(w.shop.Origin()), "capabilities", []any{harness.Capability("other", "GET", "/other", nil)})
	w.tenantAdmin.Put("/projects/default-private", harness.With(without, "expectedRevision", 1)).OK(t)
	for _, path := range []string{"/agents", "/agents/" + ids[0], "/teams", "/teams/t"} {
		if a := w.viewer.Get(path); strings.Contains(a.Raw, "hidden") || a.Status != 200 {
			t.Errorf("a viewer sees it: %s", a)
		}
	}
	w.operator.Get("/agents/"+ids[0]).OK(t).Is(t, "executorInputs.body.card", secretCard)
	w.enable(t, "default-private", 2)
	w.asks(ids[1], agentRun("LIVE", "body", doc{"card": "c"})).Refused(t, "invalid_request", "capability: ") // nor does the agent run it any more
	w.teamRun("t", 1, nil).Refused(t, "invalid_request", "steps[0].capability: ")
	w.nothingStored(t)
}
