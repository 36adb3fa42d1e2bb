package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

const compile = "/models/refund/compile-plan"

// bindings binds both actions of the sample model.
func bindings() doc {
	return doc{
		"scenarioId": "small", "mode": "LIVE",
		"actionBindings": doc{
			"check": doc{"projectId": shop, "capability": "lookup", "inputVariables": doc{"resourceId": "orderId"}},
			"pay": doc{"projectId": shop, "capability": "refund", "input": doc{"amount": 5}, "inputVariables": doc{"orderId": "orderId"},
				"expectation": doc{"field": "status", "equals": "refunded"}},
		},
	}
}

func TestCompilingMakesTheActionsOfThePathIntoSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.operator.Post(compile, bindings())
	if a.Status != 201 {
		t.Error(a)
	}
	p := a.OK(t).Is(t, "status", "READY").Is(t, "validationErrors", []any{}).Is(t, "mode", "LIVE").Is(t, "modelId", "refund").Is(t, "modelRevision", 1).Is(t, "scenarioId", "small")
	p.Is(t, "steps.0.id", "check").Is(t, "steps.0.actionId", "check").Is(t, "steps.0.input", doc{"resourceId": "ord-7"}).Is(t, "steps.0.dependsOn", harness.Absent)
	p.Is(t, "steps.1.id", "pay").Is(t, "steps.1.dependsOn", []string{"check"}).Is(t, "steps.1.input", doc{"amount": 5, "orderId": "ord-7"})
	p.Is(t, "steps.1.expectation", doc{"field": "status", "equals": "refunded"}).Is(t, "steps.2", harness.Absent)
	if p.At("name").Text() == "" {
		t.Error("the plan has no name")
	}
	w.viewer.Get("/plans/"+p.At("id").Text()).OK(t).Is(t, "steps", p.At("steps")).Is(t, "modelSnapshot.id", "refund")
	named := w.operator.Post(compile, harness.With(harness.Without(bindings(), "mode"), "name", "mine")).OK(t)
	named.Is(t, "name", "mine").Is(t, "mode", "DRY_RUN").Is(t, "planDigest", p.At("planDigest"))
}

func TestInputsOfTheRequestReachTheSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.operator.Post(compile, harness.With(bindings(), "inputs", doc{"orderId": "ord-99", "amount": 1})).OK(t)
	p.Is(t, "status", "READY").Is(t, "steps.0.input.resourceId", "ord-99").Is(t, "planningInputs", doc{"orderId": "ord-99", "amount": 1})
}

func TestVariablesAreReadBeforeTheActionsOwnEffects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := harness.With(bindings(), "actionBindings.pay", doc{"projectId": shop, "capability": "note", "inputVariables": doc{"seen": "checked"}})
	seen = harness.With(seen, "actionBindings.check", doc{"projectId": shop, "capability": "note", "inputVariables": doc{"seen": "checked"}})
	p := w.operator.Post(compile, seen).OK(t).Is(t, "status", "READY")
	if in := p.At("steps.0.input"); len(in.Keys()) != 0 {
		t.Errorf("an unknown value was put in: %s", in)
	}
	p.Is(t, "steps.1.input", doc{"seen": true})
}

func TestACompiledPlanNamesWhatIsWrongWithItsBindings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		request doc
		has     string
	}{
		"missing binding":         {harness.Without(bindings(), "actionBindings.pay"), "pay"},
		"binding of no action":    {harness.With(bindings(), "actionBindings.dance", doc{"projectId": shop, "capability": "note"}), "actionBindings.dance"},
		"literal and variable":    {harness.With(bindings(), "actionBindings.pay.input.orderId", "x"), "actionBindings.pay.inputVariables.orderId"},
		"unknown variable":        {harness.With(bindings(), "actionBindings.pay.inputVariables.amount2", "nothing"), "actionBindings.pay.inputVariables.amount2"},
		"unknown project":         {harness.With(bindings(), "actionBindings.pay.projectId", "default-none"), "projectId"},
		"unknown capability":      {harness.With(bindings(), "actionBindings.pay.capability", "none"), "capability"},
		"scenario does not pass":  {harness.With(bindings(), "inputs", doc{"amount": 0}), "scenarioId"},
		"an input without schema": {harness.With(bindings(), "actionBindings.pay.input.extra", 1), "extra"},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.operator.Post(compile, c.request).OK(t).Is(t, "status", "INVALID").Has(t, "validationErrors", c.has)
			w.operator.Post("/runs", doc{"planId": p.At("id").Text()}, key()).Refused(t, "plan_invalid")
		})
	}
}

func TestABindingForAnActionOffThePathIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := harness.Model("refund")
	actions := append(append([]any{}, m["actions"].([]any)...), doc{"id": "idle", "name": "idle", "description": "d", "inputs": []any{}, "simulatedResult": "", "memoryEffects": []any{}})
	w.operator.Put("/models/refund", doc{"document": harness.With(m, "actions", actions), "expectedRevision": 1}).OK(t)
	w.operator.Post(compile, harness.With(bindings(), "actionBindings.idle", doc{"projectId": "default-none", "capability": "x"})).OK(t).Is(t, "status", "READY").Is(t, "steps.2", harness.Absent)
}

func TestWhatCannotBeCompiledAtAllIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Post("/models/none/compile-plan", bindings()).Refused(t, "not_found", "none")
	w.operator.Post(compile, harness.With(bindings(), "scenarioId", "none")).Refused(t, "not_found", "none")
	w.operator.Post(compile, harness.With(bindings(), "inputs", doc{"nothing": 1})).Refused(t, "invalid_request", "inputs.nothing")
	w.operator.Post(compile, harness.With(bindings(), "inputs", doc{"amount": "x"})).Refused(t, "invalid_request", "inputs.amount")
	w.operator.Post(compile, harness.Without(bindings(), "actionBindings")).Refused(t, "invalid_request", "actionBindings")
	w.operator.Post(compile, harness.Without(bindings(), "scenarioId")).Refused(t, "invalid_request", "scenarioId")
	w.operator.Post(compile, harness.Without(bindings(), "actionBindings.pay.projectId")).Refused(t, "invalid_request", "projectId")
	w.operator.Post(compile, harness.With(bindings(), "mode", "MAYBE")).Refused(t, "invalid_request", "mode")
	w.viewer.Get("/plans").OK(t).Is(t, "total", 0)
}

func TestAModelWithErrorsCompilesToAnInvalidPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.operator.Put("/models/refund", doc{"document": harness.With(harness.Model("refund"), "states.0.isStart", false), "expectedRevision": 1}).OK(t)
	w.operator.Post(compile, bindings()).OK(t).Is(t, "status", "INVALID").Has(t, "validationErrors.0", "modelId")
}

func TestAnActionThatRecursGetsNumberedStepsAndOddIDsAreRewritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := harness.Model("refund")
	m = harness.With(harness.With(m, "transitions.2.actionId", "check"), "scenarios.0.expectedResult", "checked")
	w.operator.Put("/models/refund", doc{"document": m, "expectedRevision": 1}).OK(t)
	p := w.operator.Post(compile, harness.Without(bindings(), "actionBindings.pay")).OK(t).Is(t, "status", "READY")
	p.Is(t, "steps.0.id", "check").Is(t, "steps.1.id", "check-2").Is(t, "steps.1.actionId", "check").Is(t, "steps.1.dependsOn", []string{"check"})

	odd := "Prüfung / 1\n"
	m = harness.With(harness.With(harness.With(m, "actions.0.id", odd), "transitions.0.actionId", odd), "transitions.2.actionId", odd)
	w.operator.Put("/models/refund", doc{"document": m, "expectedRevision": 2}).OK(t)
	binding := bindings()["actionBindings"].(doc)["check"]
	odds := doc{"scenarioId": "small", "actionBindings": doc{odd: binding}}
	p = w.operator.Post(compile, odds).OK(t).Is(t, "status", "READY").Is(t, "steps.0.actionId", odd)
	w.reaches(t, w.start(t, p.At("id").Text()), "COMPLETED")
	for _, s := range p.At("steps").Items() {
		if id := s.At("id").Text(); !stepID.MatchString(id) {
			t.Errorf("the step id is %q", id)
		}
	}
}
