// Package inputs reads what stands at a path of a request's inputs, in the one way for
// rules and titles. Where a receiver may read something else there, it says so. It is pure.
package inputs

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
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
	meter  *cost.Meter // of walking paths, and of telling names apart
	what   string      // names it
	names  Names
	top    branches
	open   branches            // whose values are not known yet
	deeper map[string]branches // by the path that leads to it
}

// Of reads inputs. open names those whose values are not known yet, as in a rehearsal those
// that are bound to an earlier step's answer. Once the meter has come to its end, everything
// is unclear; what says in its refusal whose paths are read.
func Of(m *cost.Meter, what string, names Names, values map[string]countersign.Value, open map[string]countersign.Binding) *Inputs {
	in := &Inputs{meter: m, what: what, names: names, top: branches{exact: values}, deeper: map[string]branches{}}
	if len(open) > 0 {
		in.open.exact = make(map[string]countersign.Value, len(open))
		for name := range open {
			in.open.exact[name] = countersign.Null
		}
	}
	return in
}

// namedAtOnce is how many bytes of a name are looked up in one step of the meter.
const namedAtOnce = 8

// Read finds the value at a path. A dot may separate names or belong to one, and a name may
// stand there in another case: where a path can be read in more than one way and the values
// differ, it is unclear which of them the receiver goes by.
func (in *Inputs) Read(path string) Reading {
	var found Reading
	if !in.meter.Take(1+len(path)/namedAtOnce, in.what) {
		return Reading{Unclear: true}
	}
	for name, rest := range Splits(path) {
		if _, open := in.member(&in.open, name); open {
			return Reading{Unclear: true}
		}
		at, ok := in.member(&in.top, name)
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
		if !in.meter.Take(1+len(rest)/namedAtOnce, in.what) {
			found.Unclear = true
			return
		}
		for name, further := range Splits(rest) {
			if next, ok := in.member(&below, name); ok && !found.Unclear {
				in.collect(at+"\x00"+name, next, further, found)
			}
		}
		in.deeper[at] = below
	case !found.Value.IsZero() && !in.same(found.Value, is.Value):
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
	if !in.meter.Take(1+len(v.Raw()), in.what) {
		return branches{}
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
func (in *Inputs) member(b *branches, name string) (Reading, bool) {
	v, ok := b.exact[name]
	if in.names == Exact || len(b.exact) == 0 {
		return Reading{Value: v}, ok
	}
	if b.alike == nil && !in.fold(b) {
		return Reading{Unclear: true}, true
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

// fold tells which members are alike; false once the meter has come to its end.
func (in *Inputs) fold(b *branches) bool {
	steps := len(b.exact)
	for name := range b.exact {
		steps += len(name) / namedAtOnce
	}
	if !in.meter.Take(steps, in.what) {
		return false
	}
	b.alike = make(map[string]countersign.Value, len(b.exact))
	for name, v := range b.exact {
		if v.IsZero() {
			continue // as good as not there
		}
		key := folded.Name(name)
		if other, again := b.alike[key]; again && (other.IsZero() || !in.same(other, v)) {
			v = countersign.Value{}
		}
		b.alike[key] = v
	}
	return !in.meter.Over()
}

// same compares two values that a receiver may read in one place.
func (in *Inputs) same(a, b countersign.Value) bool {
	return in.meter.Take(len(a.Raw())+len(b.Raw()), in.what) && a.Equal(b)
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
