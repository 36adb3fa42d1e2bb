// Package inputs reads what stands at a path of a request's inputs, in the one way for
// rules and titles. Where a receiver may read something else there, it says so. It is pure.
package inputs

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/folded"
)

// Reading is what stands at the path of an input.
type Reading struct {
	Value   countersign.Value // zero: nothing
	Unclear bool              // what stands there isn't known yet, or may be one of several values
}

// Known reports a value other than null: null is the unknown value, as in models.
func (r Reading) Known() bool { return !r.Value.IsZero() && !r.Value.IsNull() }

// Names says which names of members are the same to a receiver.
type Names bool

// Exact are names as the first two editions of the gate read them; Folded has those be the
// same that differ in case alone, as many a receiver reads them (package folded).
const (
	Exact  Names = false
	Folded Names = true
)

// Inputs are those of one request, each object in them decoded once.
type Inputs struct {
	names  Names
	top    branches
	open   branches            // whose values are not known yet
	deeper map[string]branches // by the path that leads to it
}

// Of reads inputs. open names those whose values are not known yet, as in a rehearsal those
// that are bound to an earlier step's answer.
func Of(names Names, values map[string]countersign.Value, open map[string]countersign.Binding) *Inputs {
	in := &Inputs{names: names, top: branches{exact: values}, deeper: map[string]branches{}}
	if len(open) > 0 {
		in.open.exact = make(map[string]countersign.Value, len(open))
		for name := range open {
			in.open.exact[name] = countersign.Null
		}
	}
	return in
}

// Read finds the value at a path. A dot may separate names or belong to one, and a name may
// stand there in another case: where a path can be read in more than one way and the values
// differ, it is unclear which of them the receiver goes by.
func (in *Inputs) Read(path string) Reading {
	var found Reading
	for name, rest := range Splits(path) {
		if _, open := in.open.member(in.names, name); open {
			return Reading{Unclear: true}
		}
		at, ok := in.top.member(in.names, name)
		if !ok {
			continue
		}
		if in.collect(name, at, rest, &found); found.Unclear {
			return Reading{Unclear: true}
		}
	}
	return found
}

// collect adds the readings of the rest of a path below a member.
func (in *Inputs) collect(at string, is Reading, rest string, found *Reading) {
	switch {
	case is.Unclear:
		found.Unclear = true
	case is.Value.IsZero(): // as good as not there
	case rest != "":
		below := in.below(at, is.Value)
		for name, further := range Splits(rest) {
			if next, ok := below.member(in.names, name); ok && !found.Unclear {
				in.collect(at+"\x00"+name, next, further, found)
			}
		}
		in.deeper[at] = below
	case !found.Value.IsZero() && !found.Value.Equal(is.Value):
		found.Unclear = true
	default:
		found.Value = is.Value
	}
}

// below decodes a value once; a scalar has nothing below it.
func (in *Inputs) below(at string, v countersign.Value) branches {
	if known, ok := in.deeper[at]; ok {
		return known
	}
	if m, ok := v.Object(); ok {
		return branches{exact: m}
	}
	out := branches{exact: map[string]countersign.Value{}}
	list, _ := v.Array()
	for i, element := range list {
		out.exact[strconv.Itoa(i)] = element
	}
	return out
}

// branches are the members of an object, or the elements of an array by their index.
type branches struct {
	exact map[string]countersign.Value
	alike map[string]countersign.Value // by the folded name; zero: those of that name differ
}

// member finds what stands under a name. Where names are folded and it stands there under
// another spelling as well, with another value, or under another spelling alone, nobody can
// say what the receiver reads.
func (b *branches) member(names Names, name string) (Reading, bool) {
	v, ok := b.exact[name]
	if names == Exact || len(b.exact) == 0 {
		return Reading{Value: v}, ok
	}
	if b.alike == nil {
		b.fold()
	}
	one, some := b.alike[folded.Name(name)]
	switch {
	case !some:
		return Reading{}, false
	case !ok || one.IsZero():
		return Reading{Unclear: true}, true
	}
	return Reading{Value: v}, true
}

func (b *branches) fold() {
	b.alike = make(map[string]countersign.Value, len(b.exact))
	for name, v := range b.exact {
		if v.IsZero() {
			continue // as good as not there
		}
		key := folded.Name(name)
		if other, again := b.alike[key]; again && (other.IsZero() || !other.Equal(v)) {
			v = countersign.Value{}
		}
		b.alike[key] = v
	}
}

// Splits yields each way to take a first name off a path, the whole path first.
func Splits(path string) func(yield func(name, rest string) bool) {
	return func(yield func(name, rest string) bool) {
		for name, rest := path, ""; ; {
			if !yield(name, rest) {
				return
			}
			i := strings.LastIndexByte(name, '.')
			if i < 0 {
				return
			}
			name, rest = path[:i], path[i+1:]
		}
	}
}
