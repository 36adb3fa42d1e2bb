package linearizability

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

func TestWrongStartHistoriesAreRefused(t *testing.T) {
	start := func(key int, content string) startsOp {
		return startsOp{what: "start", key: key, content: content, live: true}
	}
	ready := func(run string) startsAnswer {
		return startsAnswer{run: run, status: countersign.RunReady}
	}
	again := func(run string) startsAnswer { return startsAnswer{run: run, replayed: true} }
	refused := func(code countersign.Code) startsAnswer { return startsAnswer{answer: answer{code}} }
	end := func(key int) startsOp { return startsOp{what: "end", key: key} }
	four := []porcupine.Operation{
		at(1, 10, start(0, "x"), ready("r0")), at(2, 11, start(1, "x"), ready("r1")), at(3, 12, start(2, "x"), ready("r2")), at(4, 13, start(3, "x"), ready("r3")),
	}
	with := func(more ...porcupine.Operation) []porcupine.Operation {
		return append(append([]porcupine.Operation{}, four...), more...)
	}
	judgeSamples(t, startsSpec.model(), []sample{
		{"two runs of one key", false, []porcupine.Operation{at(1, 4, start(0, "x"), ready("r0")), at(2, 5, start(0, "x"), ready("r1"))}},
		{"a repeat gets another run", false, []porcupine.Operation{at(1, 2, start(0, "x"), ready("r0")), at(3, 4, start(0, "x"), again("r1"))}},
		{"a key with other content", false, []porcupine.Operation{at(1, 4, start(0, "x"), ready("r0")), at(2, 5, start(0, "y"), again("r0"))}},
		{"a repeat is refused for capacity", false, with(at(20, 21, start(0, "x"), refused(countersign.CodeCapacity)))},
		{"a repeat is refused by a disabled project", false, []porcupine.Operation{
			at(1, 2, start(0, "x"), ready("r0")), at(3, 4, startsOp{what: "disable"}, startsAnswer{}), at(5, 6, start(0, "x"), refused(countersign.CodeProjectDisabled)),
		}},
		{"a refused start burns its key", false, with(
			at(20, 21, start(4, "x"), refused(countersign.CodeCapacity)), at(22, 23, end(0), startsAnswer{}), at(24, 25, start(4, "y"), refused(countersign.CodeIdempotencyConflict)),
		)},
		{"a fifth run", false, with(at(20, 21, start(4, "x"), ready("r4")))},
		{"a fifth run is seen", false, with(at(20, 21, startsOp{what: "look"}, startsAnswer{shown: "aaaaa---"}))},
		{"refused with a slot free", false, with(at(20, 21, end(0), startsAnswer{}), at(22, 23, start(4, "x"), refused(countersign.CodeCapacity)))},
		{"started on a disabled project", false, []porcupine.Operation{
			at(1, 2, startsOp{what: "disable"}, startsAnswer{}), at(3, 4, start(0, "x"), ready("r0")),
		}},
		{"a start is lost", false, []porcupine.Operation{at(1, 2, start(0, "x"), ready("r0")), at(3, 4, startsOp{what: "look"}, startsAnswer{shown: "--------"})}},
		{"a new run is shown RUNNING", false, []porcupine.Operation{at(1, 2, start(0, "x"), startsAnswer{run: "r0", status: countersign.RunRunning})}},
		{"a start without an answer is found by its repeat", true, []porcupine.Operation{
			at(1, 2, start(0, "x"), refused(countersign.CodeUnavailable)), at(3, 4, start(0, "x"), again("r0")), at(5, 6, startsOp{what: "look"}, startsAnswer{shown: "a-------"}),
		}},
		{"a refused key is used for something else", true, with(
			at(20, 21, start(4, "x"), refused(countersign.CodeCapacity)), at(22, 23, end(0), startsAnswer{}), at(24, 25, start(4, "y"), ready("r4")),
		)},
	})
}
