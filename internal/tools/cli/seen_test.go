package cli

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestNothingOfAnApprovalIsUnseen: who decides at a terminal sees every text of the record,
// one of a field that is added tomorrow too.
func TestNothingOfAnApprovalIsUnseen(t *testing.T) {
	var a countersign.Approval
	texts := marked.Fill(&a)
	var out strings.Builder
	printApproval(&out, &a)
	for _, path := range marked.Missing(texts, out.String(), map[string]string{
		"inputSnapshot": "all of it is in the request", "request.query": "the URL has it", "decisions.assertion": "a proof for verifiers: its passkey is named",
		"state.request.query": "the URL has it",
	}) {
		t.Errorf("approvals show leaves out %s", path)
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
}

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

// TestNothingOfAProjectIsUnseen: who enables a project reads what it may send.
func TestNothingOfAProjectIsUnseen(t *testing.T) {
	var p countersign.Project
	texts := marked.Fill(&p)
	p.AuthSecretEnv, p.Auth = "", &countersign.Auths{Several: append(p.Auth.Several, *p.Auth.One)} // one way to write it
	var out strings.Builder
	printProject(&out, &p)
	for _, path := range marked.Missing(texts, out.String(), map[string]string{
		"authSecretEnv": "auth is in its place", "conformance": "its verdict is shown", "health.projectId": "it is the project's", "health.error": "it is healthy",
		"capabilities.precondition.when":  "a condition is written as one kind of two; the record has it whole",
		"capabilities.approvalRules.when": "a condition is written as one kind of two; the table has it whole",
	}) {
		t.Errorf("projects show leaves out %s", path)
	}
	if t.Failed() {
		t.Log("\n" + out.String())
	}
}
