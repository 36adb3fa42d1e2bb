package request

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// What inputSchema says of a field's values besides their type (contract 11): enum,
// minimum, maximum, maxLength and pattern.

// bounds checks that a field's constraints fit its type and can be met.
func (k *capabilityCheck) bounds(name string, f countersign.InputField) {
	k.enum(name, f)
	path := "inputSchema." + name
	for _, bound := range []struct {
		field string
		value countersign.Value
	}{{"minimum", f.Minimum}, {"maximum", f.Maximum}} {
		if bound.value.IsZero() {
			continue
		}
		k.only(path, bound.field, f, countersign.KindNumber)
		if bound.value.Kind() != countersign.KindNumber {
			k.add(path+"."+bound.field, "wrong_type", "must be a number, not %s", bound.value.Kind())
		}
	}
	if isNumber(f.Minimum) && isNumber(f.Maximum) && less(f.Maximum, f.Minimum) {
		k.add(path+".maximum", "bad_bounds", "must not be below minimum")
	}
	if f.MaxLength != 0 {
		k.only(path, "maxLength", f, countersign.KindString)
	}
	k.pattern(path, f)
}

func (k *capabilityCheck) only(path, bound string, f countersign.InputField, kind countersign.Kind) {
	if len(f.OrTypes) > 0 && kind == countersign.KindNumber && f.Takes("number") && !f.Takes("string") {
		return // of what isn't a number nobody expects a bound; of text like "5" they would
	}
	if f.Type != kind.String() || len(f.OrTypes) > 0 {
		k.add(path+"."+bound, "wrong_type", "is for inputs of type %s only, and this one is %s", kind, strings.Join(f.Types(), " or "))
	}
}

func (k *capabilityCheck) enum(name string, f countersign.InputField) {
	if f.Enum != nil && len(f.Enum) == 0 {
		k.add("inputSchema."+name+".enum", "bad_bounds", "must name a value; leave it out where any is allowed")
	}
	for i, v := range f.Enum {
		path := fmt.Sprintf("inputSchema.%s.enum[%d]", name, i)
		if !f.Takes(v.Kind().String()) {
			k.add(path, "wrong_type", "must be %s, as the input is, not %s", strings.Join(f.Types(), " or "), v.Kind())
			continue
		}
		without := f
		without.Enum = nil
		if why := misfit(k.meter, path, without, v); why != "" {
			k.add(path, "bad_bounds", "%s", why)
		}
	}
}

func (k *capabilityCheck) pattern(path string, f countersign.InputField) {
	if f.Pattern == "" {
		return
	}
	k.only(path, "pattern", f, countersign.KindString)
	if !k.meter.Take(len(f.Pattern), path+".pattern") {
		return
	}
	switch p, err := compiled(k.meter, patternOf(f)); {
	case err != nil:
		k.add(path+".pattern", "bad_pattern", "must be an RE2 expression: %s", err)
	case !k.meter.Take(p.size, path+".pattern"):
	case p.expression == nil:
		k.add(path+".pattern", "bad_pattern", "is too large once its repetitions are written out; repeat less")
	}
}

// misfit says which of a field's constraints a value of its type doesn't meet, "" for
// none. It quotes the schema and never the value, whose path is what.
func misfit(m *cost.Meter, what string, f countersign.InputField, v countersign.Value) string {
	switch {
	case !m.Take(stepsOf(f, v), what):
		return ""
	case len(f.Enum) > 0 && !isOneOf(f.Enum, v):
		return "must be one of " + listed(f.Enum)
	case isNumber(v):
		return outside(f, v)
	case v.Kind() == countersign.KindString:
		return misspelt(m, what, f, v.Text())
	}
	return ""
}

// stepsOf is what comparing a value with a field's enum and bounds takes. Matching its pattern
// is counted when it comes to that.
func stepsOf(f countersign.InputField, v countersign.Value) int {
	steps := 1
	if len(f.Enum) > 0 {
		steps += len(v.Raw())
	}
	for _, option := range f.Enum {
		steps += 1 + len(option.Raw())
	}
	if isNumber(v) {
		steps += compared(v, f.Minimum) + compared(v, f.Maximum)
	}
	return steps
}

// compared is what comparing a number with a bound takes.
func compared(v, bound countersign.Value) int {
	if bound.IsZero() {
		return 0
	}
	return len(v.Raw()) + len(bound.Raw())
}

func isOneOf(options []countersign.Value, v countersign.Value) bool {
	var canonical string // of the value: made once, if it is needed
	return slices.ContainsFunc(options, func(option countersign.Value) bool {
		switch {
		case option.Raw() == v.Raw():
			return true
		case option.Kind() != v.Kind():
			return false
		case canonical == "":
			canonical = string(v.Canonical())
		}
		return string(option.Canonical()) == canonical
	})
}

func outside(f countersign.InputField, v countersign.Value) string {
	switch {
	case isNumber(f.Minimum) && less(v, f.Minimum):
		return "must be at least " + f.Minimum.Raw()
	case isNumber(f.Maximum) && less(f.Maximum, v):
		return "must be at most " + f.Maximum.Raw()
	}
	return ""
}

func misspelt(m *cost.Meter, what string, f countersign.InputField, text string) string {
	length := int64(utf8.RuneCountInString(text))
	switch {
	case f.MaxLength != 0 && length > f.MaxLength:
		return fmt.Sprintf("must not be longer than %d characters", f.MaxLength)
	case f.Pattern == "":
		return ""
	case length > countersign.MaxPatternText:
		return fmt.Sprintf("must not be longer than %d characters, as everything that has a pattern", countersign.MaxPatternText)
	}
	if p, err := compiled(m, patternOf(f)); err != nil || !p.matches(m, text, what) && !m.Over() { // what can't be read is met by nothing
		return "must match the pattern " + f.Pattern
	}
	return ""
}

// maxListedOptions is how many bytes of an enum a message names.
const maxListedOptions = 300

func listed(options []countersign.Value) string {
	var texts []string
	bytes := 0
	for i, v := range options {
		if bytes += len(v.Raw()); bytes > maxListedOptions {
			texts = append(texts, fmt.Sprintf("and %d more", len(options)-i))
			break
		}
		texts = append(texts, v.Raw())
	}
	return strings.Join(texts, ", ")
}

func isNumber(v countersign.Value) bool { return !v.IsZero() && v.Kind() == countersign.KindNumber }

func less(a, b countersign.Value) bool {
	return countersign.ParseNumber(a.Raw()).Compare(countersign.ParseNumber(b.Raw())) < 0
}
