package approvals

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/marked"
)

func TestWhyAnApprovalIsAskedForIsSaidOnce(t *testing.T) {
	for _, status := range []countersign.ApprovalStatus{countersign.ApprovalPending, countersign.ApprovalApproved} {
		var out strings.Builder
		printApproval(&out, &countersign.Approval{ID: "apr-1", Status: status, Reasons: []string{"over 100"}})
		if n := strings.Count(out.String(), "over 100"); n != 1 {
			t.Errorf("%s: %d times\n%s", status, n, out.String())
		}
	}
}

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
