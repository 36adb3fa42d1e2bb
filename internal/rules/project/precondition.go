package project

import (
	"reflect"

	"github.com/countersign/countersign"
)

// conditionedOtherwise reports a precondition that was removed or changed; a first one weakens
// nothing.
func conditionedOtherwise(was, now *countersign.Capability) bool {
	return was.Precondition != nil && !reflect.DeepEqual(was.Precondition, now.Precondition)
}

// looksOtherwise reports a precondition whose read has the same name and finds something else.
func looksOtherwise(was, now *countersign.Capability, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	return was.Precondition != nil && now.Precondition != nil && readsOtherwise(known(was.Precondition.Capability), after.Capability(now.Precondition.Capability))
}

// readsOtherwise reports another target of a read.
func readsOtherwise(looked, looks *countersign.Capability) bool {
	return looked != nil && looks != nil &&
		(looked.Method != looks.Method || looked.Path != looks.Path || looked.OutputField != looks.OutputField || !reflect.DeepEqual(looked.Request, looks.Request))
}
