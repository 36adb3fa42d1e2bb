package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

func TestWrongDecisionHistoriesAreRefused(t *testing.T) {
	approve, reject := decisionOp{"approve", "bob"}, decisionOp{"reject", "eve"}
	read, cancel := decisionOp{what: "read"}, decisionOp{what: "cancel"}
	is := func(decision countersign.ApprovalStatus, by string) decisionAnswer {
		return decisionAnswer{is: decisionState{decision: decision, by: by}}
	}
	run := func(status countersign.RunStatus, sent bool) decisionAnswer {
		return decisionAnswer{is: decisionState{run: status, sent: sent}}
	}
	readRun := decisionOp{what: "read run"}
	const approved, rejected = countersign.ApprovalApproved, countersign.ApprovalRejected
	judgeSamples(t, decisionSpec.model(), []sample{
		{"decided twice", false, []porcupine.Operation{at(1, 4, approve, is(approved, "bob")), at(2, 5, reject, is(rejected, "eve"))}},
		{"decided twice the same way", false, []porcupine.Operation{at(1, 4, approve, is(approved, "bob")), at(2, 5, decisionOp{"approve", "eve"}, is(approved, "eve"))}},
		{"another's decision is shown", false, []porcupine.Operation{at(1, 2, approve, is(approved, "bob")), at(3, 4, read, is(rejected, "eve"))}},
		{"a decision is taken back", false, []porcupine.Operation{
			at(1, 9, approve, is(approved, "bob")), at(2, 3, read, is(approved, "bob")), at(4, 5, read, is(countersign.ApprovalPending, "")),
		}},
		{"a conflict while it is open", false, []porcupine.Operation{at(1, 2, approve, decisionAnswer{answer: conflict})}},
		{"decided after the run was cancelled", false, []porcupine.Operation{at(1, 2, cancel, decisionAnswer{}), at(3, 4, approve, is(approved, "bob"))}},
		{"a cancelled run leaves it open", false, []porcupine.Operation{at(1, 2, cancel, decisionAnswer{}), at(3, 4, read, is(countersign.ApprovalPending, ""))}},
		{"sent without an approval", false, []porcupine.Operation{at(1, 2, decisionOp{what: "sent"}, decisionAnswer{}), at(3, 4, approve, is(approved, "bob"))}},
		{"sent after a rejection", false, []porcupine.Operation{at(1, 2, reject, is(rejected, "eve")), at(3, 4, decisionOp{what: "sent"}, decisionAnswer{})}},
		{"cancelled while its request is on its way", false, []porcupine.Operation{
			at(1, 2, approve, is(approved, "bob")), at(3, 4, decisionOp{what: "sent"}, decisionAnswer{}), at(5, 6, cancel, decisionAnswer{}), at(7, 8, readRun, run(countersign.RunCancelled, true)),
		}},
		{"completed after a cancel", false, []porcupine.Operation{
			at(1, 2, approve, is(approved, "bob")), at(3, 4, decisionOp{what: "sent"}, decisionAnswer{}), at(5, 6, cancel, decisionAnswer{}),
			at(7, 8, decisionOp{what: "answered"}, decisionAnswer{}), at(9, 10, readRun, run(countersign.RunCompleted, true)),
		}},
		{"who asked for the run decides", false, []porcupine.Operation{at(1, 2, decisionOp{"approve", ann.ID}, is(approved, ann.ID))}},
		{"decided by one of two, told to each", true, []porcupine.Operation{
			at(1, 5, approve, decisionAnswer{answer: conflict}), at(2, 6, reject, is(rejected, "eve")), at(7, 8, readRun, run(countersign.RunFailed, false)),
		}},
		{"a decision without an answer counts", true, []porcupine.Operation{
			at(1, 2, approve, decisionAnswer{answer: unavailable}), at(3, 4, reject, decisionAnswer{answer: conflict}), at(5, 6, read, is(approved, "bob")),
		}},
	})
}
