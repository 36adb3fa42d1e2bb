package linearizability

import (
	"fmt"

	"github.com/countersign/countersign"
)

// A run whose only step asks for approval. The approval is decided once, by a reviewer or, if the run is canceled first,
// by the system. An approved request is sent; after that a cancel leaves its outcome to be reconciled.

// decisionState is the state of the run and its approval.
type decisionState struct {
	run      countersign.RunStatus
	sent     bool
	decision countersign.ApprovalStatus
	by       string
}

// decisionOp is an operation. The service itself sends the request and stores the answer.
type decisionOp struct {
	what string // approve, reject, cancel, read, read run, sent, answered
	by   string
}

func (o decisionOp) String() string { return o.what + " by " + o.by }

// decisionAnswer is an answer: the approval for a decision or a read of it, the state of the run for a read of that.
type decisionAnswer struct {
	answer
	is decisionState
}

func (a decisionAnswer) String() string { return fmt.Sprintf("%s %+v", a.code, a.is) }

var decisionSpec = spec[decisionState, decisionOp, decisionAnswer]{
	start: decisionState{run: countersign.RunWaitingApproval, decision: countersign.ApprovalPending},
	next: func(s decisionState, in decisionOp, _ decisionAnswer) (decisionState, decisionAnswer) {
		switch in.what {
		case "approve", "reject":
			return decideRun(s, in)
		case "cancel":
			return cancelRun(s)
		case "read":
			return s, decisionAnswer{is: decisionState{decision: s.decision, by: s.by}}
		case "read run":
			return s, decisionAnswer{is: decisionState{run: s.run, sent: s.sent}}
		case "sent":
			if s.run != countersign.RunRunning || s.sent {
				return s, decisionAnswer{is: decisionState{by: "impossible"}}
			}
			s.sent = true
		case "answered":
			if s.run == countersign.RunRunning {
				s.run = countersign.RunCompleted
			}
		}
		return s, decisionAnswer{}
	},
}

func decideRun(s decisionState, in decisionOp) (decisionState, decisionAnswer) {
	switch {
	case in.by == ann.ID: // ann started the run
		return s, decisionAnswer{answer: answer{countersign.CodeSelfApproval}}
	case s.decision != countersign.ApprovalPending:
		return s, decisionAnswer{answer: answer{countersign.CodeStateConflict}}
	case in.what == "approve":
		s.run, s.decision = countersign.RunRunning, countersign.ApprovalApproved
	default:
		s.run, s.decision = countersign.RunFailed, countersign.ApprovalRejected
	}
	s.by = in.by
	return s, decisionAnswer{is: decisionState{decision: s.decision, by: s.by}}
}

func cancelRun(s decisionState) (decisionState, decisionAnswer) {
	switch s.run {
	case countersign.RunWaitingApproval:
		s.run, s.decision, s.by = countersign.RunCancelled, countersign.ApprovalRejected, countersign.SystemPrincipal
	case countersign.RunRunning:
		s.run = countersign.RunCancelled
		if s.sent {
			s.run = countersign.RunRecoveryRequired
		}
	case countersign.RunCancelled:
	default:
		return s, decisionAnswer{answer: answer{countersign.CodeStateConflict}}
	}
	return s, decisionAnswer{}
}
