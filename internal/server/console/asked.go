package console

import "github.com/countersign/countersign"

// What an approval says besides its request.

// expectation is one that will judge the answer.
type expectation struct {
	Field, Equals string
	StatusCode    string
}

// expectationsOf reads an approval's expectation: one, or an array of several.
func expectationsOf(v countersign.Value) (out []expectation) {
	if list, ok := v.Array(); ok {
		for _, one := range list {
			out = append(out, expectationsOf(one)...)
		}
		return out
	}
	if m, ok := v.Object(); ok {
		out = append(out, expectation{m["field"].Text(), inline(m["equals"]), m["statusCode"].Raw()})
	}
	return out
}

// sameRun is another run with the same request.
type sameRun struct {
	countersign.SameRequest
	State state
}

func sameRuns(list []countersign.SameRequest) []sameRun {
	out := make([]sameRun, len(list))
	for i, s := range list {
		out[i] = sameRun{s, stepStates[s.Status]}
	}
	return out
}
