package webhook

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestEachEventHasAnActionThatTellsIt: an event that a webhook may ask for, and that no action of the audit log is, would
// never be told.
func TestEachEventHasAnActionThatTellsIt(t *testing.T) {
	for _, name := range countersign.WebhookEvents {
		if len(actionsOf([]string{name})) == 0 {
			t.Errorf("no action of the audit log is the event %s", name)
		}
	}
	if len(actionsOf([]string{"run.added"})) > 0 {
		t.Error("an event that there isn't is told")
	}
}
