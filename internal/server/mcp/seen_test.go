package mcp

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

// TestAnAgentSeesAllThatIsSent, one field that is added tomorrow too.
func TestAnAgentSeesAllThatIsSent(t *testing.T) {
	var r countersign.Request
	texts := marked.Fill(&r)
	s, err := stepOf(&countersign.StepRun{Request: &r})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range marked.Missing(texts, s.Request.Raw(), nil) {
		t.Errorf("a tool's answer leaves out %s", path)
	}
}
