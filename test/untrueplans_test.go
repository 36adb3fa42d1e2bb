package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestAPlanThatNamesWhatItsModelDoesNotHaveIsInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plan := harness.With(planOf(harness.With(step("s", "note", doc{"x": 1}), "actionId", "nothing")), "scenarioId", "never")
	plan["planningInputs"] = doc{"amount": "five", "other": 1}
	answer := w.operator.Post("/plans", plan).OK(t).Is(t, "status", "INVALID")
	answer.Is(t, "validationErrors.0", `scenarioId: the model has no scenario "never"`)
	answer.Has(t, "validationErrors.1", "planningInputs.amount: ").Is(t, "validationErrors.2", `planningInputs.other: the model has no input variable "other"`)
	answer.Is(t, "validationErrors.3", `steps[0].actionId: the model has no action "nothing"`).Is(t, "validationErrors.4", harness.Absent)
	w.operator.Post("/runs", doc{"planId": answer.At("id").Text()}, key()).Refused(t, "plan_invalid")
}
