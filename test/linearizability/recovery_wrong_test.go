package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

func TestWrongRecoveryHistoriesAreRefused(t *testing.T) {
	by := func(what string) recoveryOp { return recoveryOp{what: what, by: "bob"} }
	yes := recoveryAnswer{}
	is := func(s recoveryState) recoveryAnswer { return recoveryAnswer{is: s} }
	no := recoveryAnswer{answer: conflict}
	read, cancel := recoveryOp{what: "read"}, recoveryOp{what: "cancel"}
	again, gone := by(countersign.ConfirmedNotExecuted), by(countersign.Abandon)
	sent := func(n int) recoveryOp { return recoveryOp{what: "sent", attempt: n} }
	answered := recoveryOp{what: "answered", attempt: 2}
	judgeSamples(t, recoverySpec.model(), []sample{
		{"reconciled twice", false, []porcupine.Operation{at(1, 4, by(countersign.ConfirmedCompleted), yes), at(2, 5, gone, yes)}},
		{"sent again by itself", false, []porcupine.Operation{at(1, 2, sent(2), yes)}},
		{"sent again after it was abandoned", false, []porcupine.Operation{at(1, 2, gone, yes), at(3, 4, sent(2), yes)}},
		{"sent again twice", false, []porcupine.Operation{at(1, 2, again, yes), at(3, 6, sent(2), yes), at(4, 7, sent(3), yes)}},
		{"cancelled while it is uncertain", false, []porcupine.Operation{at(1, 2, cancel, yes), at(3, 4, read, is(recoveryState{run: countersign.RunCancelled, attempt: 1, asked: true}))}},
		{"cancelled while it is on its way", false, []porcupine.Operation{
			at(1, 2, again, yes), at(3, 4, sent(2), yes), at(5, 6, cancel, yes), at(7, 8, read, is(recoveryState{run: countersign.RunCancelled, attempt: 2, asked: true})),
		}},
		{"completed by a late answer", false, []porcupine.Operation{
			at(1, 2, again, yes), at(3, 4, sent(2), yes), at(5, 6, cancel, yes), at(7, 8, answered, yes), at(9, 10, read, is(recoveryState{run: countersign.RunCompleted, attempt: 2, asked: true})),
		}},
		{"a late answer is dropped", false, []porcupine.Operation{
			at(1, 2, again, yes), at(3, 4, sent(2), yes), at(5, 6, cancel, yes), at(7, 8, answered, yes), at(9, 10, read, is(recoveryState{run: countersign.RunRecoveryRequired, attempt: 2, asked: true})),
		}},
		{"given up while it is on its way", false, []porcupine.Operation{at(1, 2, again, yes), at(3, 4, sent(2), yes), at(5, 6, cancel, yes), at(7, 8, gone, yes)}},
		{"given up once it was answered", true, []porcupine.Operation{at(1, 2, again, yes), at(3, 4, sent(2), yes), at(5, 6, cancel, yes), at(7, 8, answered, yes), at(9, 10, gone, yes)}},
		{"confirmed with a wrong output", false, []porcupine.Operation{at(1, 2, by(wrongOutput), yes)}},
		{"refused while it is uncertain", false, []porcupine.Operation{at(1, 2, gone, no)}},
		{"one of two counts", true, []porcupine.Operation{
			at(1, 5, by(countersign.ConfirmedCompleted), no), at(2, 6, gone, yes), at(7, 8, read, is(recoveryState{run: countersign.RunCancelled, attempt: 1})),
		}},
	})
}
