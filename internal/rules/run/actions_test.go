package run

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestEachStatusThatARunMovesIntoHasItsAction: the audit log would call the move "run.", and no webhook be told.
func TestEachStatusThatARunMovesIntoHasItsAction(t *testing.T) {
	for _, status := range countersign.RunStatuses {
		if (runActions[status] != "") == (status == countersign.RunReady) { // a run begins so, and moves into it no more
			t.Errorf("the action of %s is %q", status, runActions[status])
		}
	}
}
