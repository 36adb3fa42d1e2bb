package mcp

import (
	"strings"

	"github.com/countersign/countersign"
)

// Outcomes say in one word what became of a call (contract 11), so that a model needn't
// know the statuses of runs.
const (
	outcomeRehearsed     = "REHEARSED"
	outcomeWaiting       = "WAITING_FOR_A_PERSON"
	outcomeDone          = "DONE"
	outcomeRefused       = "REFUSED" // nothing took effect
	outcomeNotAsExpected = "NOT_AS_EXPECTED"
	outcomeUnknown       = "UNKNOWN"
	outcomeStopped       = "STOPPED"
	outcomeRunning       = "RUNNING"
)

func outcomeOf(r *countersign.Run) string {
	if r.WaitingFor != nil {
		switch r.WaitingFor.Kind {
		case "approval":
			return outcomeWaiting
		case "stop":
			return outcomeStopped
		case "slot":
			return outcomeRunning // somebody has decided; it goes on by itself
		}
	}
	code, _, _ := strings.Cut(r.Error, ": ")
	switch r.Status {
	case countersign.RunCompleted:
		if r.Mode == countersign.ModeDryRun {
			return outcomeRehearsed
		}
		return outcomeDone
	case countersign.RunRecoveryRequired:
		return outcomeUnknown
	case countersign.RunCancelled:
		if countersign.Code(code) == countersign.CodeAbandoned {
			return outcomeUnknown // a person gave up finding out
		}
		return outcomeStopped
	case countersign.RunFailed:
		return failedOutcome(countersign.Code(code))
	}
	return outcomeRunning
}

func failedOutcome(code countersign.Code) string {
	switch code {
	case countersign.CodeExpectationNotMet, countersign.CodeOutputMissing:
		return outcomeNotAsExpected
	case countersign.CodeOutcomeUnknown:
		return outcomeUnknown
	}
	return outcomeRefused
}

// address is the page on which a person acts, "" where nobody needs to.
func (v *toolRequest) address(r *countersign.Run) string {
	switch {
	case r.WaitingFor == nil:
		return ""
	case r.WaitingFor.Kind == "approval":
		return v.cfg.BaseURL + "/console/approvals/" + r.WaitingFor.ApprovalID
	case r.WaitingFor.Kind == "reconcile":
		return v.cfg.BaseURL + "/console/recovery/" + r.ID
	}
	return ""
}
