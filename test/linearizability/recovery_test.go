package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A run whose only side effect is uncertain. A person says once what happened. If nothing did, the request is sent again and may
// become uncertain again; a cancel while it is in flight only requests the end.

// recoveryState is the state. If inFlight is false, the run is RUNNING and the request not yet sent.
type recoveryState struct {
	run      countersign.RunStatus
	inFlight bool
	attempt  int
	asked    bool // a cancel was requested
	late     bool // an answer came after the cancel
}

// recoveryOp is an operation. The service itself sends the request again and stores the answer.
type recoveryOp struct {
	what    string // a resolution, cancel, read, sent, answered, lost
	attempt int    // the attempt that is sent, answered or lost
	by      string
}

// wrongOutput is a confirmation with an output that doesn't meet the plan's expectation.
const wrongOutput = "CONFIRMED_COMPLETED wrongly"

func (o recoveryOp) String() string { return fmt.Sprintf("%s %d by %s", o.what, o.attempt, o.by) }

type recoveryAnswer struct {
	answer
	is recoveryState
}

func (a recoveryAnswer) String() string { return fmt.Sprintf("%s %+v", a.code, a.is) }

var recoverySpec = spec[recoveryState, recoveryOp, recoveryAnswer]{
	start: recoveryState{run: countersign.RunRecoveryRequired, attempt: 1},
	next: func(s recoveryState, in recoveryOp, _ recoveryAnswer) (recoveryState, recoveryAnswer) {
		switch in.what {
		case "read":
			return s, recoveryAnswer{is: s}
		case "cancel":
			return cancelRecovery(s)
		case "sent":
			if s.run != countersign.RunRunning || s.inFlight || in.attempt != s.attempt+1 {
				return s, recoveryAnswer{answer: answer{"impossible"}}
			}
			s.inFlight, s.attempt = true, in.attempt
			return s, recoveryAnswer{}
		case "answered", "lost":
			return answerRecovery(s, in), recoveryAnswer{}
		default:
			return reconcileRun(s, in)
		}
	},
}

func reconcileRun(s recoveryState, in recoveryOp) (recoveryState, recoveryAnswer) {
	switch {
	case in.by == ann.ID: // ann started the run
		return s, recoveryAnswer{answer: answer{countersign.CodeSelfApproval}}
	case s.run != countersign.RunRecoveryRequired:
		return s, recoveryAnswer{answer: answer{countersign.CodeStateConflict}}
	case s.asked && !s.late: // its call is in flight
		return s, recoveryAnswer{answer: answer{countersign.CodeStateConflict}}
	case in.what == wrongOutput:
		return s, recoveryAnswer{answer: answer{countersign.CodeExpectationNotMet}}
	case s.asked || in.what == countersign.Abandon:
		s.run = countersign.RunCancelled
	case in.what == countersign.ConfirmedCompleted:
		s.run = countersign.RunCompleted
	default:
		s.run = countersign.RunRunning
	}
	return s, recoveryAnswer{}
}

func cancelRecovery(s recoveryState) (recoveryState, recoveryAnswer) {
	switch {
	case s.run == countersign.RunRunning && s.inFlight:
		s.run, s.inFlight, s.asked = countersign.RunRecoveryRequired, false, true
	case s.run == countersign.RunRunning:
		s.run, s.asked = countersign.RunCancelled, true
	case s.run != countersign.RunCancelled:
		return s, recoveryAnswer{answer: answer{countersign.CodeStateConflict}}
	}
	return s, recoveryAnswer{}
}

// answerRecovery: an answer decides while its request is in flight; after a cancel it is evidence, and after a reconcile it is
// ignored.
func answerRecovery(s recoveryState, in recoveryOp) recoveryState {
	switch {
	case in.attempt != s.attempt:
	case s.inFlight && in.what == "answered":
		s.run, s.inFlight = countersign.RunCompleted, false
	case s.inFlight:
		s.run, s.inFlight = countersign.RunRecoveryRequired, false
	case s.run == countersign.RunRecoveryRequired && s.asked:
		s.late = true
	}
	return s
}
