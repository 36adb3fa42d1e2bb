package console

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// The parts of an approval besides its request.

// expectation is a condition that the response must meet.
type expectation struct {
	Field, Equals string
	StatusCode    string
}

// expectationsOf reads an approval's expectation: an object, or an array of them.
func expectationsOf(v countersign.Value) (out []expectation) {
	if list, ok := v.Array(); ok {
		for _, one := range list {
			out = append(out, expectationsOf(one)...)
		}
		return out
	}
	if m, ok := v.Object(); ok {
		out = append(out, expectation{m["field"].Text(), text.Inline(m["equals"]), m["statusCode"].Raw()})
	}
	return out
}

// sameRun is another run with the same request.
type sameRun struct {
	countersign.SameRequest
	State text.State
}

func sameRuns(list []countersign.SameRequest) []sameRun {
	out := make([]sameRun, len(list))
	for i, s := range list {
		out[i] = sameRun{s, text.StepStates[s.Status]}
	}
	return out
}
