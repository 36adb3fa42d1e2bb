package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

func TestWrongHeartbeatHistoriesAreRefused(t *testing.T) {
	beat := func(sequence int64) beatOp {
		return beatOp{sequence: sequence, state: countersign.InstanceIdle, timestamp: "t"}
	}
	heard := func(received int64) beatAnswer { return beatAnswer{is: beatState{received: received}} }
	again := func(received int64) beatAnswer {
		return beatAnswer{duplicate: true, is: beatState{received: received}}
	}
	used := beatAnswer{answer: answer{countersign.CodeSequenceConflict}}
	busy := beatOp{sequence: 1, state: countersign.InstanceBusy, timestamp: "t"}
	judgeSamples(t, beatSpec.model(), []sample{
		{"a sequence is used twice", false, []porcupine.Operation{at(1, 4, beat(1), heard(7)), at(2, 5, busy, heard(8))}},
		{"a sequence goes back", false, []porcupine.Operation{at(1, 2, beat(2), heard(7)), at(3, 4, beat(1), heard(8))}},
		{"a duplicate is refused", false, []porcupine.Operation{at(1, 2, beat(1), heard(7)), at(3, 4, beat(1), used)}},
		{"a duplicate refreshes", false, []porcupine.Operation{at(1, 2, beat(1), heard(7)), at(3, 4, beat(1), again(8))}},
		{"a duplicate of an older one", false, []porcupine.Operation{at(1, 2, beat(1), heard(7)), at(3, 4, beat(2), heard(8)), at(5, 6, beat(1), again(7))}},
		{"a duplicate of nothing", false, []porcupine.Operation{at(1, 2, beat(1), again(7))}},
		{"a wrong clock is heard", false, []porcupine.Operation{at(1, 2, beatOp{sequence: 1, skewed: true}, heard(7))}},
		{"refused with a sequence that is new", false, []porcupine.Operation{at(1, 2, beat(1), heard(7)), at(3, 4, beat(2), used)}},
		{"an acknowledged one is not there", false, []porcupine.Operation{at(1, 2, beat(1), heard(7)), at(3, 4, beatOp{read: true}, beatAnswer{})}},
		{"one without an answer uses its sequence", true, []porcupine.Operation{
			at(1, 2, beat(1), beatAnswer{answer: unavailable}), at(3, 4, busy, used), at(5, 6, beat(1), again(7)),
		}},
	})
}
