package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// simulated stores a model and returns the result of a scenario.
func simulated(t *testing.T, operator *harness.Client, model doc, inputs doc) json {
	t.Helper()
	id := model["id"].(string)
	operator.Put("/models/"+id, doc{"document": model}).OK(t)
	body := doc{"scenarioId": "small"}
	if inputs != nil {
		body["inputs"] = inputs
	}
	return operator.Post("/models/"+id+"/simulate", body).OK(t)
}

func TestASimulationWalksToAFinalStateAndShowsHow(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	s := simulated(t, operator, harness.Model("m"), nil)
	s.Is(t, "scenarioId", "small").Is(t, "passed", true).Is(t, "outcome", "final").Is(t, "finalStateId", "paid").Is(t, "path", []string{"start", "review", "paid"})
	s.Is(t, "result", "money is on its way").Is(t, "values", doc{"amount": 10, "orderId": "ord-7", "checked": true}).Is(t, "mismatches", []any{})
	s.Is(t, "trace.0.from", "start").Is(t, "trace.0.to", "review").Is(t, "trace.0.transitionId", "accept").Is(t, "trace.0.actionId", "check")
	s.Is(t, "trace.0.predicates.0.variableId", "amount").Is(t, "trace.0.predicates.0.actual", 10).Is(t, "trace.0.predicates.0.holds", true)
	s.Is(t, "trace.0.effects", []any{doc{"variableId": "checked", "value": true}}).Is(t, "trace.1.transitionId", "pay").Is(t, "trace.2", harness.Absent)
}

func TestValuesComeFromTheRequestThenTheScenarioThenTheDefault(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	m := harness.Model("m")
	s := simulated(t, operator, m, doc{"amount": 20})
	s.Is(t, "values.amount", 20).Is(t, "values.orderId", "ord-7")
	simulated(t, operator, harness.With(harness.Without(m, "scenarios.0.inputs.orderId"), "id", "m2"), nil).Is(t, "values.orderId", "ord-1")
	null := simulated(t, operator, harness.With(m, "id", "m3"), doc{"amount": nil}) // unknown hides what lies below
	null.Is(t, "values.amount", nil).Is(t, "finalStateId", "rejected").Is(t, "passed", false).Is(t, "result", "")
	hidden := harness.With(harness.With(m, "id", "m4"), "scenarios.0.inputs.amount", nil)
	simulated(t, operator, hidden, nil).Is(t, "values.amount", nil).Is(t, "finalStateId", "rejected")
	memory := harness.With(harness.With(m, "id", "m5"), "variables.2.defaultValue", false)
	simulated(t, operator, harness.With(memory, "scenarios.0.initialMemory.checked", nil), nil).Is(t, "values.checked", true)
}

func TestMismatchesNameWhatWasExpected(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	s := simulated(t, operator, harness.Model("m"), doc{"amount": 0})
	s.Is(t, "passed", false).Is(t, "outcome", "final").Is(t, "path", []string{"start", "rejected"})
	fields := map[string]bool{}
	for _, m := range s.At("mismatches").Items() {
		fields[m.At("field").Text()] = true
	}
	if len(fields) != 3 {
		t.Errorf("the mismatches are %s", s.At("mismatches"))
	}
	s.Is(t, "mismatches.0", doc{"field": "expectedStateId", "expected": "paid", "actual": "rejected"})
}

func TestTransitionsAreTriedByPriorityThenDocumentOrder(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	m := harness.Model("m")
	simulated(t, operator, harness.With(m, "transitions.0.priority", 2), nil).Is(t, "finalStateId", "rejected")
	even := harness.With(harness.With(m, "id", "m2"), "transitions.0.priority", 1)
	simulated(t, operator, even, nil).Is(t, "finalStateId", "paid")
}

func TestAPredicateOnAnUnknownVariableIsFalseExceptIsUnknown(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	for op, holds := range map[string]bool{"eq": false, "neq": false, "gt": false, "gte": false, "lt": false, "lte": false, "isKnown": false, "isUnknown": true} {
		m := harness.With(harness.Model("m-"+op), "transitions.0.condition.operator", op)
		if op == "isKnown" || op == "isUnknown" {
			m = harness.Without(m, "transitions.0.condition.value")
		}
		want := map[bool]string{true: "paid", false: "rejected"}[holds]
		simulated(t, operator, m, doc{"amount": nil}).Is(t, "finalStateId", want)
	}
}

func TestEmptyGroupsAndIsTrueAndOrIsFalse(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	simulated(t, operator, harness.With(harness.Model("m-and"), "transitions.0.condition", harness.Group("AND")), nil).Is(t, "finalStateId", "paid")
	simulated(t, operator, harness.With(harness.Model("m-or"), "transitions.0.condition", harness.Group("OR")), nil).Is(t, "finalStateId", "rejected")
	nested := harness.Group("OR", harness.Predicate("amount", "lt", 0), harness.Group("AND", harness.Predicate("amount", "gte", 10), harness.Predicate("orderId", "neq", "x")))
	simulated(t, operator, harness.With(harness.Model("m-deep"), "transitions.0.condition", nested), nil).Is(t, "finalStateId", "paid")
}

func TestASimulationWithoutAWayOnIsStuck(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	m := harness.With(harness.Model("m"), "transitions.2.condition.value", false)
	simulated(t, operator, m, nil).Is(t, "outcome", "stuck").Is(t, "finalStateId", "review").Is(t, "path", []string{"start", "review"}).Is(t, "passed", false).Is(t, "result", "checked")
	expected := harness.With(harness.With(harness.With(m, "id", "m2"), "scenarios.0.expectedStateId", "review"), "scenarios.0.expectedPath", []string{"start", "review"})
	simulated(t, operator, harness.With(expected, "scenarios.0.expectedResult", "checked"), nil).Is(t, "outcome", "stuck").Is(t, "passed", true)
}

func TestASimulationThatRecursIsALoopAndNeverPasses(t *testing.T) {
	t.Parallel()
	_, operator := modeler(t)
	m := harness.With(harness.Model("m"), "transitions.2.toStateId", "start")
	s := simulated(t, operator, m, nil)
	s.Is(t, "outcome", "loop").Is(t, "passed", false)
	s.Is(t, "path", []string{"start", "review", "start", "review"}).Is(t, "finalStateId", "review") // in review, checked, for the second time
}

func TestAnUnknownScenarioIsNotFoundAndUnfitInputsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.viewer.Post(simulate, doc{"scenarioId": "none"}).Refused(t, "not_found", "none")
	for name, inputs := range map[string]doc{
		"unknown": {"nothing": 1}, "a memory variable": {"checked": true}, "text for a number": {"amount": "10"}, "boolean for a number": {"amount": true},
		"number for a text": {"orderId": 1},
	} {
		t.Run(name, func(t *testing.T) {
			w.viewer.Post(simulate, doc{"scenarioId": "small", "inputs": inputs}).Refused(t, "invalid_request", "inputs")
		})
	}
	w.viewer.Post("/models/none/simulate", doc{"scenarioId": "small"}).Refused(t, "not_found")
}

func TestTheSameInputsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.viewer.Post(simulate, `{"scenarioId":"small","inputs":{"amount":3,"orderId":"x"}}`)
	for range 5 {
		again := w.viewer.Post(simulate, `{"inputs":{"orderId":"x","amount":3},"scenarioId":"small"}`)
		if again.Raw != first.Raw {
			t.Fatalf("%s\n%s", first.Raw, again.Raw)
		}
	}
}
