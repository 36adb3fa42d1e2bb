package countersign_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestACancelledRunIsToldInWords: of its code, who cancelled it and why. Other errors stay as they are, and so does
// what a person gave as their reason.
func TestACancelledRunIsToldInWords(t *testing.T) {
	who := func(id string) string { return strings.TrimPrefix(id, "user:") }
	for reason, want := range map[string]string{
		"cancelled: user:ada@example.com: wrong: twice":             "the run was cancelled by ada@example.com: wrong: twice",
		"cancelled: it was cancelled while step pay was on its way": "the run was cancelled while step pay was on its way",
		"abandoned: whether step pay took effect stays unknown":     "abandoned: whether step pay took effect stays unknown",
		"approval_rejected: user:mara@example.com rejected it: no":  "approval_rejected: user:mara@example.com rejected it: no",
		"": "",
	} {
		if got := countersign.CancelledWords(reason, who); got != want {
			t.Errorf("%q: %q", reason, got)
		}
		if got := countersign.DecisionWords(countersign.SystemPrincipal, reason, who); got != want {
			t.Errorf("the system's %q: %q", reason, got)
		}
		if got := countersign.DecisionWords("user:mara@example.com", reason, who); got != reason {
			t.Errorf("a person's %q: %q", reason, got)
		}
	}
}
