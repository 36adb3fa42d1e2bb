package mcp

import (
	"github.com/countersign/countersign"
)

// Outcomes say in one word what became of a call (contract 12.2), so that a model needn't
// know the statuses of runs.
const (
	outcomeRehearsed     = "REHEARSED"
	outcomeWaiting       = "WAITING_FOR_A_PERSON"
	outcomeDone          = "DONE"
	outcomeRefused       = "REFUSED" // nothing took effect
	outcomeNotAsExpected = "NOT_AS_EXPECTED"
	outcomeUnknown       = "UNKNOWN"
	outcomeStopped       = "STOPPED" // cancelled before anything was sent
	outcomeHeld          = "HELD"    // a stop holds it; it goes on by itself
	outcomeRunning       = "RUNNING"
)

func outcomeOf(r *countersign.Run) string { return outcomeBy(r, r.Effects()) }

// outcomeBy is the outcome of a run whose side effects came to that.
func outcomeBy(r *countersign.Run, effects countersign.Effects) string {
	if r.WaitingFor != nil {
		switch r.WaitingFor.Kind {
		case "approval":
			return outcomeWaiting
		case "stop":
			return outcomeHeld
		case "slot":
			return outcomeRunning // somebody has decided; it goes on by itself
		}
	}
	switch r.Status {
	case countersign.RunCompleted:
		if r.Mode == countersign.ModeDryRun {
			return outcomeRehearsed
		}
		return outcomeDone
	case countersign.RunRecoveryRequired:
		return outcomeUnknown
	case countersign.RunCancelled:
		return cancelledOutcome(effects)
	case countersign.RunFailed:
		return failedOutcome(r, effects)
	}
	return outcomeRunning
}

// cancelledOutcome says of a run that it was STOPPED only where nothing of it has, or may have,
// taken effect.
func cancelledOutcome(effects countersign.Effects) string {
	switch effects {
	case countersign.EffectsNone:
		return outcomeStopped
	case countersign.EffectsWhole:
		return outcomeDone
	}
	return outcomeUnknown
}

// failedOutcome says of a run that it was REFUSED only where nothing of it has, or may have,
// taken effect: the code speaks of the last attempt alone.
func failedOutcome(r *countersign.Run, effects countersign.Effects) string {
	switch code := r.Code(); {
	case code.NotAsExpected():
		return outcomeNotAsExpected
	case code == countersign.CodeWithdrawn && !r.MayHaveHappened: // the receiver took its key back before anything was begun
		return outcomeRefused
	case code == countersign.CodeOutcomeUnknown, code == countersign.CodeAnswerUnsigned, effects != countersign.EffectsNone:
		return outcomeUnknown
	}
	return outcomeRefused
}

// address is the page on which a person acts, "" where nobody needs to.
func (v *toolRequest) address(r *countersign.Run) string {
	switch {
	case r.WaitingFor == nil:
		return ""
	case r.WaitingFor.Kind == countersign.WaitApproval:
		return v.cfg.BaseURL + "/console/approvals/" + r.WaitingFor.ApprovalID
	case r.WaitingFor.Kind == countersign.WaitReconcile:
		return v.recovery(r.ID)
	}
	return ""
}

func (v *toolRequest) recovery(runID string) string {
	return v.cfg.BaseURL + "/console/recovery/" + runID
}
