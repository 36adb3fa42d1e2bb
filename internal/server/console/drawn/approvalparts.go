package drawn

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
)

// The parts of an approval besides its request.

// Expectation is a condition that the response must meet.
type Expectation struct {
	Field, Equals string
	StatusCode    string
}

// ExpectationsOf reads an approval's expectation: an object, or an array of them.
func ExpectationsOf(v countersign.Value) (out []Expectation) {
	if list, ok := v.Array(); ok {
		for _, one := range list {
			out = append(out, ExpectationsOf(one)...)
		}
		return out
	}
	if m, ok := v.Object(); ok {
		out = append(out, Expectation{m["field"].Text(), text.Inline(m["equals"]), m["statusCode"].Raw()})
	}
	return out
}

// SameRun is another run with the same request.
type SameRun struct {
	countersign.SameRequest
	State text.State
}

// SameRuns are the runs with the states that they are shown in.
func SameRuns(list []countersign.SameRequest) []SameRun {
	out := make([]SameRun, len(list))
	for i, s := range list {
		out[i] = SameRun{s, text.StepStates[s.Status]}
	}
	return out
}
