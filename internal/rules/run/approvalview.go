package run

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// What an approval shows besides the request and its title: the expectation that the
// answer is checked against, and the sources of its inputs.

// expectations are those that judge the step's answer.
func (t *transition) expectations(i int) []countersign.Expectation {
	_, capability := t.target(i)
	return countersign.Expectations(capability, t.planned(i))
}

// expected shows the expectations for the step's answer: one as it is, two as an
// array, zero for none.
func (t *transition) expected(i int) countersign.Value {
	var shown any
	switch es := t.expectations(i); len(es) {
	case 0:
		return countersign.Value{}
	case 1:
		shown = es[0]
	default:
		shown = es
	}
	v, err := countersign.ValueOf(shown)
	if err != nil {
		return countersign.Value{} // it was read from JSON
	}
	return v
}

// sources are the steps whose outputs are bound to inputs.
func (t *transition) sources(i int) []countersign.InputSource {
	bound := t.planned(i).InputBindings
	var out []countersign.InputSource
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		b := bound[name]
		out = append(out, countersign.InputSource{Input: name, StepID: b.StepID, Field: b.Field, Verified: t.passed(b.StepID)})
	}
	return out
}

// passed reports that the answer of a step met its expectation. An output that a person
// stated is no answer.
func (t *transition) passed(stepID string) bool {
	for i := range t.run.Steps {
		if s := t.step(i); s.ID == stepID {
			return s.Verification != nil && s.Verification.Status == countersign.VerificationPassed && !s.Reconciliation.StatesOutput()
		}
	}
	return false
}
