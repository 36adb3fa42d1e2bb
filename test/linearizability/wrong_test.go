package linearizability

import (
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/countersign/countersign"
)

// A checker can be wrong too: it proves something only if it refuses wrong histories. Here are histories that no correct service
// could have, and some that look odd but are right.

// at is one operation with the times of its call and return.
func at(call, ret int64, in, out any) porcupine.Operation {
	return porcupine.Operation{Input: in, Output: out, Call: call, Return: ret}
}

// sample is a hand-made history.
type sample struct {
	name  string
	right bool
	ops   []porcupine.Operation
}

func judgeSamples(t *testing.T, m porcupine.Model, samples []sample) {
	t.Helper()
	ticks.Add(1000) // so that lost operations end after every sample
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			h := &history{ops: s.ops}
			ops := h.sealed()
			if got := porcupine.CheckOperationsTimeout(m, ops, checkTime); (got == porcupine.Ok) != s.right {
				t.Errorf("the checker says %s; right is %t\n%s", got, s.right, list(m, ops))
			}
		})
	}
}

var (
	conflict    = answer{countersign.CodeStateConflict}
	unavailable = answer{countersign.CodeUnavailable}
)

// TestViolationsAreTold: the report of a violation has its seed, its operations and a drawing.
func TestViolationsAreTold(t *testing.T) {
	ops := []porcupine.Operation{at(1, 2, registerOp{what: "put", content: "a"}, registerAnswer{register: register{revision: 2}})}
	m := registerSpec.model()
	if text := list(m, ops); !strings.Contains(text, `put "a" over 0`) {
		t.Errorf("the list is %s", text)
	}
	if path := draw(t, 4711, m, ops); !strings.HasSuffix(path, "seed-4711.html") {
		t.Errorf("it is drawn in %s", path)
	}
}
