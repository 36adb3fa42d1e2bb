package runs

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestNothingOfARunIsUnseen: the record of the run and of its step.
func TestNothingOfARunIsUnseen(t *testing.T) {
	var r countersign.Run
	texts := marked.Fill(&r)
	var out strings.Builder
	printRun(&out, &r, nil)
	const proof = "for verifiers: answeredBy, or the statement itself, says whose word it is"
	for _, path := range marked.Missing(texts, out.String(), map[string]string{
		"planSnapshot": "plans show has it", "approvalId": "the step has it", "waitingFor.stepId": "each step is shown",
		"steps.response.signed": proof, "steps.late.response.signed": proof, "steps.probes.response.signed": proof, "steps.settlements.signed": proof,
		"steps.wouldCheck.when": "a condition is written as one kind of two; the record has it whole", "steps.wouldCheck.request.query": "the URL has it",
		"steps.request.query": "the URL has it", "steps.probes.request.query": "the URL has it",
	}) {
		t.Errorf("runs show leaves out %s", path)
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
}
