package projects

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

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
