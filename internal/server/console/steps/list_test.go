package steps

import "testing"

func TestAnErrorOfAPlanStandsBesideItsStep(t *testing.T) {
	for text, want := range map[string]struct {
		index int
		rest  string
	}{
		"steps[2].input.amount: is missing": {2, "input.amount: is missing"},
		"steps[0]: it is in a cycle":        {0, "it is in a cycle"},
		"steps: a plan has at least one":    {-1, "steps: a plan has at least one"},
		"modelId: there is no model m":      {-1, "modelId: there is no model m"},
		"steps[x].id: what":                 {-1, "steps[x].id: what"},
	} {
		if i, rest := stepAt(text); i != want.index || rest != want.rest {
			t.Errorf("%s is of step %d: %s", text, i, rest)
		}
	}
}
