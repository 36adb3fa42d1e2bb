package chat

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// lookedAt says against which state an approval is asked for, and what of it has changed since the
// approval before.
func lookedAt(a *countersign.Approval) (out []Fact) {
	if a.State != nil {
		out = append(out, Fact{"Looked at", safetext.Value(a.State.Capability) + " on " + moment(a.State.At)})
		for _, field := range slices.Sorted(maps.Keys(a.State.Values)) {
			out = append(out, Fact{"It has " + safetext.Value(field), valueText(a.State.Values[field])})
		}
	}
	for _, c := range a.Changed {
		out = append(out, Fact{"Changed since the approval before: " + safetext.Value(c.Field), valueText(c.Then) + " was approved, it is " + valueText(c.Now)})
	}
	return out
}
