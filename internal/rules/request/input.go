package request

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// CheckInputs returns every reason why a step's inputs can't become a request of this
// capability (contract 5): paths are `input.amount` and `inputBindings.amount`. The
// value of a bound input is not known yet; [Build] checks it. Messages name inputs and
// types and never contain a value. They are no result once the meter has come to its end.
func CheckInputs(meter *cost.Meter, c *countersign.Capability, input map[string]countersign.Value, bound map[string]countersign.Binding) []countersign.Problem {
	m, err := newMapping(c)
	if err != nil {
		return []countersign.Problem{{Path: "capability", Code: "bad_path", Message: fmt.Sprintf("the path of %s %s", c.Name, err)}}
	}
	return m.checkInputs(meter, input, bound)
}

// Given returns the inputs without those that are null and optional: many serializers write
// null for what is left out (contract 12.1). An input that the schema doesn't declare may
// have any value, null among them; a required one is refused for it by its type.
func Given(c *countersign.Capability, input map[string]countersign.Value) map[string]countersign.Value {
	out := input
	for name, v := range input {
		field, declared := c.InputSchema[name]
		if !declared || field.Required || !v.IsNull() {
			continue
		}
		if len(out) == len(input) {
			out = maps.Clone(input)
		}
		delete(out, name)
	}
	return out
}

// CheckGiven is CheckInputs for incomplete inputs: missing ones are no problem.
func CheckGiven(meter *cost.Meter, c *countersign.Capability, input map[string]countersign.Value, bound map[string]countersign.Binding) []countersign.Problem {
	return slices.DeleteFunc(CheckInputs(meter, c, input, bound), func(p countersign.Problem) bool { return p.Code == missingInput })
}

const missingInput = "missing_input"

// InputSteps is what CheckInputs takes for inputs that fit: what is known to fit is counted
// without being matched again.
func InputSteps(m *cost.Meter, c *countersign.Capability, input map[string]countersign.Value) (steps int) {
	for name, v := range input {
		f, declared := c.InputSchema[name]
		if v.IsZero() || declared && !f.Takes(v.Kind().String()) {
			continue
		}
		steps += stepsOf(f, v)
		if f.Pattern == "" || v.Kind() != countersign.KindString {
			continue
		}
		if p, err := compiled(m, patternOf(f)); err == nil {
			steps += p.steps(v.Text())
		}
	}
	return steps
}

func (m mapping) checkInputs(meter *cost.Meter, input map[string]countersign.Value, bound map[string]countersign.Binding) []countersign.Problem {
	k := inputCheck{mapping: m, meter: meter, input: input, bound: bound}
	for _, name := range sortedNames(input) {
		k.literal(name, input[name])
	}
	for _, name := range sortedNames(bound) {
		k.binding(name)
	}
	k.missing()
	return k.problems
}

type inputCheck struct {
	mapping
	meter    *cost.Meter
	input    map[string]countersign.Value
	bound    map[string]countersign.Binding
	problems []countersign.Problem
}

// at is where an input stands.
type at struct{ in, name string }

func (i *inputCheck) add(a at, code, format string, args ...any) {
	i.problems = append(i.problems, countersign.Problem{Path: a.in + "." + a.name, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (i *inputCheck) literal(name string, v countersign.Value) {
	path := at{"input", name}
	field, declared := i.capability.InputSchema[name]
	switch {
	case v.IsZero(): // as good as not there
	case !i.known(path):
	case declared && !field.Takes(v.Kind().String()):
		i.add(path, "wrong_type", "must be %s, not %s", strings.Join(field.Types(), " or "), v.Kind())
	default:
		i.fits(path, v)
		if why := misfit(i.meter, path.in+"."+path.name, field, v); why != "" {
			i.add(path, "out_of_bounds", "%s", why)
		}
	}
}

func (i *inputCheck) binding(name string) {
	path := at{"inputBindings", name}
	if !i.known(path) {
		return
	}
	if v, twice := i.input[name]; twice && !v.IsZero() {
		i.add(path, "mapping_conflict", "%s has a literal input already; keep one of the two", name)
	}
}

// known reports an input that the capability takes and has a place for.
func (i *inputCheck) known(path at) bool {
	switch {
	case !i.declared(path.name):
		i.add(path, "undeclared_input", "%s takes no such input; its inputSchema does not declare it", i.capability.Name)
	case !i.hasPlace(path.name):
		i.add(path, "no_place", "has no place in the request of %s; its mapping names it nowhere", i.capability.Name)
	default:
		return true
	}
	return false
}

// fits checks a value against the place that it goes to.
func (i *inputCheck) fits(path at, v countersign.Value) {
	switch kind, name := v.Kind(), path.name; {
	case i.inPath(name) && kind != countersign.KindString && kind != countersign.KindNumber:
		i.add(path, "wrong_type", "goes to the path, which carries string and number only, not %s", kind)
	case i.inPath(name):
		if why := pathValue(i.capability.InputSchema[name], v.Text()); why != "" {
			i.add(path, "not_an_id", "%s", why)
		}
	case i.inQuery(name) && !v.IsScalar():
		i.add(path, "wrong_type", "goes to the query, which carries string, number and boolean only, not %s", kind)
	}
}

// missing names what must be there and is neither given nor bound: every
// placeholder, and what the schema requires.
func (i *inputCheck) missing() {
	var missing []string
	look := func(name string) {
		if _, bound := i.bound[name]; !bound && i.input[name].IsZero() {
			missing = append(missing, name)
		}
	}
	for name := range i.path {
		look(name)
	}
	for name, field := range i.capability.InputSchema {
		if field.Required && !i.path[name] {
			look(name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		i.add(at{"input", name}, missingInput, "is required by %s", i.capability.Name)
	}
}
