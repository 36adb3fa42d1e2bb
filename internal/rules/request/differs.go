package request

import (
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Differs says where an output contradicts what was sent: members of it, or of its outputField,
// that have the name of an input and another value. Numbers are compared exactly, objects and
// arrays whole. What is no object contradicts nothing.
func Differs(sent map[string]countersign.Value, output countersign.Value, outputField string) []countersign.Discrepancy {
	members, _ := output.Object()
	out := differing(sent, members, "")
	if selected, is := under(members, outputField).Object(); is {
		out = append(out, differing(sent, selected, outputField+".")...)
	}
	return out
}

func differing(sent, found map[string]countersign.Value, at string) (out []countersign.Discrepancy) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if s, is := sent[name]; is && !s.Equal(found[name]) {
			out = append(out, countersign.Discrepancy{Field: at + name, Sent: s, Found: found[name]})
		}
	}
	return out
}

// under is what stands under an outputField: an exact key first, else a dotted path.
func under(members map[string]countersign.Value, field string) countersign.Value {
	if v, is := members[field]; is {
		return v
	}
	first, rest, dotted := strings.Cut(field, ".")
	if inner, is := members[first].Object(); dotted && is {
		return under(inner, rest)
	}
	return countersign.Value{}
}
