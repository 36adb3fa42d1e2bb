package mask

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/folded"
)

// A sensitive name is masked at any depth. One with a dot leads from a member to what is
// masked below it; where it leads into text or a number, as of an input of several types,
// that is masked whole: nothing says what of it is meant.

func (n *names) lead(name string) {
	before, after, dotted := strings.Cut(name, ".")
	if !dotted || before == "" || after == "" {
		return
	}
	if n.deeper == nil {
		n.deeper = map[string]*names{}
	}
	key := folded.Name(before)
	if n.deeper[key] == nil {
		n.deeper[key] = &names{}
	}
	n.deeper[key].add(after)
}

// leads reports a path of which a part is masked, or that leads to something with a part that
// is: what is said of it is then said of that too.
func (n *names) leads(parts []string) bool {
	for i := range parts {
		if at := n.deeper[folded.Name(parts[i])]; at != nil {
			rest := parts[i+1:]
			if len(rest) == 0 || slices.ContainsFunc(rest, at.has) || at.leads(rest) {
				return true
			}
		}
	}
	return false
}

// members masks the sensitive members of a value at any depth: an answer that is stored
// whole contains what a path would have selected.
func (f *Fields) members(v countersign.Value) countersign.Value {
	out, _ := f.mask(v, []*names{&f.names})
	return out
}

// mask also reports whether it masked anything. What holds nothing sensitive is unchanged to
// the byte. Each value is read once for each level around it: this runs in reads of the store.
// of are the names that hold here: the mask's, and those of the paths that led here.
func (f *Fields) mask(v countersign.Value, of []*names) (_ countersign.Value, any bool) {
	if list, ok := v.Array(); ok {
		for i := range list {
			var is bool
			list[i], is = f.mask(list[i], of)
			any = any || is
		}
		if !any {
			return v, false
		}
		return countersign.ArrayValue(list), true
	}
	m, _ := v.Object()
	for name, member := range m {
		var is bool
		m[name], is = f.member(name, member, of)
		any = any || is
	}
	if !any {
		return v, false
	}
	return countersign.ObjectValue(m), true
}

func (f *Fields) member(name string, v countersign.Value, of []*names) (_ countersign.Value, any bool) {
	if f.whole || slices.ContainsFunc(of, func(n *names) bool { return n.has(name) }) {
		return masked, true
	}
	if below := led(of, folded.Name(name)); len(below) > len(of) {
		return f.below(v, below)
	}
	return f.mask(v, of)
}

// led are the names that hold below a member.
func led(of []*names, member string) []*names {
	below := of
	for _, n := range of {
		if deeper := n.deeper[member]; deeper != nil {
			below = append(slices.Clip(below), deeper)
		}
	}
	return below
}

// below masks where a path leads into a value: each scalar that stands in the path's way.
func (f *Fields) below(v countersign.Value, of []*names) (_ countersign.Value, any bool) {
	list, ok := v.Array()
	switch {
	case v.Kind() == countersign.KindObject || v.IsNull():
		return f.mask(v, of)
	case !ok:
		return masked, true
	}
	for i := range list {
		var is bool
		list[i], is = f.below(list[i], led(of, strconv.Itoa(i)))
		any = any || is
	}
	if !any {
		return v, false
	}
	return countersign.ArrayValue(list), true
}

// mentions reports whether a value has a sensitive member at any depth.
func (f *Fields) mentions(v countersign.Value) bool {
	if list, ok := v.Array(); ok {
		return slices.ContainsFunc(list, f.mentions)
	}
	m, _ := v.Object()
	for name, member := range m {
		if f.hides(name) || f.names.deeper[folded.Name(name)] != nil || f.mentions(member) {
			return true
		}
	}
	return false
}
