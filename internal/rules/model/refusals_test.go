package model_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// TestASimulationThatIsRefusedSaysWhy reads both messages.
func TestASimulationThatIsRefusedSaysWhy(t *testing.T) {
	doc := counter(12, false)
	doc.ID = "counting"
	m := compiled(t, doc).Within(model.Limit{Work: 5_000, Bytes: 64 << 20})
	for scenario, want := range map[string]string{
		"none": `not_found: scenarioId: model "counting" has no scenario "none"`,
		"s":    `invalid_request: scenarioId: scenario "s" does not end within the limit of one simulation (5000 tests, 67108864 bytes of answer); its model counts too far for every step to be shown`,
	} {
		if _, err := m.Simulate(scenario, nil); err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
}

// TestAScenarioLikeAnotherIsNamedWithItsTwin reads the warning.
func TestAScenarioLikeAnotherIsNamedWithItsTwin(t *testing.T) {
	const want = `scenarios[1]: no condition tells the values of scenario "again" from those of scenario "s", so it covers nothing new; change them or remove it`
	doc := sound()
	twin := doc.Scenarios[0]
	twin.ID = "again"
	doc.Scenarios = append(doc.Scenarios, twin)
	if got := countersign.JoinProblems(model.Validate(doc).Warnings); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
