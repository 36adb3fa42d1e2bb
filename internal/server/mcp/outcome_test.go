package mcp

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestNothingThatMayHaveTakenEffectIsRefused: the code of a run speaks of its last attempt. REFUSED
// and STOPPED are said only where nothing has, or may have, taken effect.
func TestNothingThatMayHaveTakenEffectIsRefused(t *testing.T) {
	never := []countersign.Code{
		countersign.CodeApprovalRejected, countersign.CodeApprovalExpired, countersign.CodeDeniedByRule, countersign.CodeDeniedByBudget,
		countersign.CodeDrift, countersign.CodeProjectDisabled, countersign.CodeSetAside,
	}
	run := func(status countersign.RunStatus, code countersign.Code, s countersign.StepRun) *countersign.Run {
		s.SideEffect = true
		s.Error = &countersign.StepError{Code: code, Message: "m"}
		return &countersign.Run{Status: status, Mode: countersign.ModeLive, Error: string(code) + ": m", MayHaveHappened: s.MayHaveHappened, Steps: []countersign.StepRun{s}}
	}
	failed := func(attempt int, may bool) countersign.StepRun {
		return countersign.StepRun{Status: countersign.StepFailed, Attempt: attempt, MayHaveHappened: may}
	}
	for _, code := range never {
		if got := outcomeOf(run(countersign.RunFailed, code, failed(0, false))); got != outcomeRefused {
			t.Errorf("%s, never sent: %s", code, got)
		}
		if got := outcomeOf(run(countersign.RunFailed, code, failed(1, true))); got != outcomeUnknown {
			t.Errorf("%s after a sending that was confirmed as not executed: %s", code, got)
		}
	}
	for _, c := range []struct {
		code countersign.Code
		step countersign.StepRun
		want string
	}{
		{countersign.CodeNotSent, failed(0, false), outcomeRefused},
		{countersign.CodeNotSent, failed(1, false), outcomeRefused},
		{countersign.CodeNotSent, failed(2, true), outcomeUnknown},
		{countersign.CodeReceiverRefused, failed(1, false), outcomeRefused},
		{countersign.CodeReceiverRefused, failed(2, true), outcomeUnknown},
		{countersign.CodeExpectationNotMet, failed(1, true), outcomeNotAsExpected},
		{countersign.CodeOutputMissing, failed(2, true), outcomeNotAsExpected},
		{countersign.CodeOutcomeUnknown, failed(1, false), outcomeUnknown},
	} {
		if got := outcomeOf(run(countersign.RunFailed, c.code, c.step)); got != c.want {
			t.Errorf("%s, attempt %d: %s, want %s", c.code, c.step.Attempt, got, c.want)
		}
	}
	for _, c := range []struct {
		code countersign.Code
		step countersign.StepRun
		want string
	}{
		{countersign.CodeCancelled, countersign.StepRun{Status: countersign.StepCancelled}, outcomeStopped},
		{countersign.CodeCancelled, countersign.StepRun{Status: countersign.StepCancelled, Attempt: 1, MayHaveHappened: true}, outcomeUnknown},
		{countersign.CodeCancelled, countersign.StepRun{Status: countersign.StepCompleted, Attempt: 1}, outcomeDone},
		{countersign.CodeAbandoned, countersign.StepRun{Status: countersign.StepAbandoned, Attempt: 1}, outcomeUnknown},
	} {
		if got := outcomeOf(run(countersign.RunCancelled, c.code, c.step)); got != c.want {
			t.Errorf("%s, %s after attempt %d: %s, want %s", c.code, c.step.Status, c.step.Attempt, got, c.want)
		}
	}
}

// TestWhatIsLeftOfAnArchivedRunSaysWhatBecameOfItsEffects: it has no steps that would.
func TestWhatIsLeftOfAnArchivedRunSaysWhatBecameOfItsEffects(t *testing.T) {
	side := func(status countersign.StepStatus, attempt int) []countersign.StepRun {
		return []countersign.StepRun{{SideEffect: true, Status: status, Attempt: attempt}}
	}
	for _, c := range []struct {
		run  countersign.Run
		want string
	}{
		{countersign.Run{Status: countersign.RunCancelled, Error: "abandoned: whether it took effect stays unknown", Steps: side(countersign.StepAbandoned, 1)}, outcomeUnknown},
		{countersign.Run{Status: countersign.RunCancelled, Error: "cancelled: by ada", Steps: side(countersign.StepCompleted, 1)}, outcomeDone},
		{countersign.Run{Status: countersign.RunCancelled, Error: "cancelled: by ada", Steps: side(countersign.StepCancelled, 0)}, outcomeStopped},
		{countersign.Run{Status: countersign.RunFailed, Error: "receiver_refused: 422", Steps: []countersign.StepRun{{SideEffect: true, Status: countersign.StepFailed, Attempt: 1, Error: &countersign.StepError{Code: countersign.CodeReceiverRefused}}}}, outcomeRefused},
		{countersign.Run{Status: countersign.RunFailed, Error: "drift: changed", Steps: append(side(countersign.StepCompleted, 1), countersign.StepRun{Status: countersign.StepFailed})}, outcomeUnknown},
		{countersign.Run{Status: countersign.RunCompleted, Mode: countersign.ModeLive, Steps: side(countersign.StepCompleted, 1)}, outcomeDone},
	} {
		effects := c.run.Effects()
		left := c.run
		left.Steps = []countersign.StepRun{}
		if now, later := outcomeOf(&c.run), outcomeBy(&left, effects); now != c.want || later != c.want {
			t.Errorf("%s %q: %s, and archived %s, want %s", c.run.Status, c.run.Error, now, later, c.want)
		}
	}
}
