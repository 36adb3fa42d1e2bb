package mcp

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestEachStatusOfARunIsToldAsAnOutcome: a model knows outcomes and not statuses, so a status that is added is told as one
// of them on purpose, and not by being none of the others.
func TestEachStatusOfARunIsToldAsAnOutcome(t *testing.T) {
	told := map[countersign.RunStatus]string{
		countersign.RunReady: outcomeRunning, countersign.RunRunning: outcomeRunning, countersign.RunWaitingApproval: outcomeRunning, // without what it waits for
		countersign.RunRecoveryRequired: outcomeUnknown, countersign.RunCompleted: outcomeDone, countersign.RunFailed: outcomeRefused, countersign.RunCancelled: outcomeStopped,
	}
	for _, status := range countersign.RunStatuses {
		if got, want := outcomeOf(&countersign.Run{Status: status, Mode: countersign.ModeLive}), told[status]; got != want {
			t.Errorf("%s is told as %s, want %q", status, got, want)
		}
	}
}
