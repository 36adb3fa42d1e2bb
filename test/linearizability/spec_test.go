package linearizability

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// spec says what a thing is and does when one operation comes after the other:
// S is its state, I an operation, O an answer.
type spec[S, I, O comparable] struct {
	start S
	// next gives the state after an operation, and the answer to it. It is shown
	// the answer that was given, to take from it what only the service can know:
	// an id, a time.
	next func(s S, in I, given O) (S, O)
}

// model is the spec as the checker knows it. An operation whose answer was lost
// is right in every state; that it may not have happened at all is said by its
// interval, which lasts to the end.
func (sp spec[S, I, O]) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return sp.start },
		Step: func(state, in, out any) (bool, any) {
			given := out.(O)
			s, want := sp.next(state.(S), in.(I), given)
			return want == given || out.(told).isLost(), s
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v -> %v", in, out) },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}
