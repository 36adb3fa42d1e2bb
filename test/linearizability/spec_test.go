package linearizability

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// spec is a sequential specification: S is the state, I an operation, O an answer.
type spec[S, I, O comparable] struct {
	start S
	// next returns the state after an operation, and the right answer. It gets the given answer only to
	// take from it what the service chooses: an id, a time.
	next func(s S, in I, given O) (S, O)
}

// model is the spec in the checker's form. A lost answer is right in every state. Its operation may also not have happened, since
// its interval lasts to the end.
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
