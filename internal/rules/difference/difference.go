// Package difference says in which places two records differ, and what each place means in words. It
// is pure.
package difference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Difference is one place in which a record differs.
type Difference struct {
	Path string            `json:"path"`
	Was  countersign.Value `json:"was,omitzero"`
	Now  countersign.Value `json:"now,omitzero"`

	names []string // of the path: a name may have a dot of its own
}

// Between are the places in which two values differ, as deep as both have it. What an array holds
// goes by its names, where each has one of its own.
func Between(was, now countersign.Value) []Difference { return between(nil, was, now) }

func between(path []string, was, now countersign.Value) (out []Difference) {
	if same(was, now) {
		return nil
	}
	a, b := membersOf(was), membersOf(now)
	if a == nil || b == nil || len(path) > 0 && (len(a) == 0 || len(b) == 0) {
		return []Difference{at(path, was, now)}
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, between(append(slices.Clip(path), name), a[name], b[name])...)
	}
	if len(out) == 0 { // only the order of what has names
		out = []Difference{at(path, was, now)}
	}
	return out
}

func at(path []string, was, now countersign.Value) Difference {
	return Difference{strings.Join(path, "."), was, now, path}
}

func same(a, b countersign.Value) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && b.IsZero()
	}
	return a.Equal(b)
}

// membersOf are the members of an object, and those of an array by their names, where each has
// one of its own; nil for anything else.
func membersOf(v countersign.Value) map[string]countersign.Value {
	if m, ok := v.Object(); ok {
		return m
	}
	list, ok := v.Array()
	if !ok || len(list) == 0 {
		return nil
	}
	out := map[string]countersign.Value{}
	for _, item := range list {
		m, _ := item.Object()
		name := cmp.Or(m["name"].Text(), m["id"].Text())
		if _, double := out[name]; name == "" || double {
			return nil
		}
		out[name] = item
	}
	return out
}

// String is a difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s -> %s", d.Path, told(d.Was), told(d.Now))
}

func told(v countersign.Value) string {
	if v.IsZero() {
		return "absent"
	}
	return short(v.Raw())
}

// short is a text's beginning, for a line.
func short(text string) string {
	const most = 120
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
