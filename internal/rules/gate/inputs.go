package gate

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// reading is what stands at the path of an input.
type reading struct {
	value   countersign.Value // zero: nothing
	unclear bool              // what stands there isn't known yet, or may be one of several values
}

// known reports a value other than null: null is the unknown value, as in models.
func (r reading) known() bool { return !r.value.IsZero() && !r.value.IsNull() }

// inputs are those of one request, each object in them decoded once.
type inputs struct {
	values map[string]countersign.Value
	open   func(name string) bool
	deeper map[string]branches // by the path that leads to it
	meter  *cost.Meter         // of walking paths
}

// branches are the members of an object, or the elements of an array by their index.
type branches map[string]countersign.Value

// read finds the value at a path. A dot may separate names or belong to one: where a path
// can be read in more than one way and the values differ, it is unclear which of them the
// receiver goes by.
func (in *inputs) read(path string) reading {
	var found reading
	for name, rest := range splits(path) {
		if in.open != nil && in.open(name) {
			return reading{unclear: true}
		}
		v, ok := in.values[name]
		if !ok {
			continue
		}
		if in.collect(name, v, rest, &found); found.unclear {
			break
		}
	}
	return found
}

// collect adds the readings of the rest of a path below a value.
func (in *inputs) collect(at string, v countersign.Value, rest string, found *reading) {
	if v.IsZero() {
		return // as good as not there
	}
	if rest == "" {
		if !found.value.IsZero() && !found.value.Equal(v) {
			found.unclear = true
		}
		found.value = v
		return
	}
	below := in.below(at, v)
	if !in.meter.Take(1, "approvalRules") {
		return
	}
	for name, further := range splits(rest) {
		if next, ok := below[name]; ok && !found.unclear {
			in.collect(at+"\x00"+name, next, further, found)
		}
	}
}

// below decodes a value once; a scalar has nothing below it.
func (in *inputs) below(at string, v countersign.Value) branches {
	if known, ok := in.deeper[at]; ok {
		return known
	}
	out := branches{}
	if !in.meter.Take(1+len(v.Raw()), "approvalRules") {
		return out
	}
	if m, ok := v.Object(); ok {
		out = m
	} else if list, ok := v.Array(); ok {
		for i, element := range list {
			out[strconv.Itoa(i)] = element
		}
	}
	in.deeper[at] = out
	return out
}

// splits yields each way to take a first name off a path, the whole path first.
func splits(path string) func(yield func(name, rest string) bool) {
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
