package cli

import (
	"reflect"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Given refuses an empty flag or argument, such as one from an unset shell variable, and a
// zero where zero has no meaning. It would count as not given, and the check that the caller
// asked for would be left out.
func Given(chosen *kong.Context) error {
	for _, p := range chosen.Path {
		switch {
		case p.Flag != nil && empty(p.Flag.Value):
			return terminal.Unusablef("--%s is empty or 0, as by a variable that isn't set: give --%s, or leave it out", p.Flag.Name, p.Flag.Name+"="+p.Flag.FormatPlaceHolder())
		case p.Positional != nil && empty(p.Positional):
			return terminal.Unusablef("%s is empty, as by a variable that isn't set. What it is for: %s", p.Positional.Summary(), p.Positional.Help)
		}
	}
	return nil
}

// empty reports a value that commands treat as not given. For a flag with a default, zero is
// a valid value.
func empty(v *kong.Value) bool {
	return none(v.Target, v.HasDefault)
}

var duration = reflect.TypeFor[interface{ Seconds() float64 }]()

func none(v reflect.Value, zero bool) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Int, reflect.Int64:
		return v.IsZero() && !zero && !v.Type().Implements(duration)
	case reflect.Pointer:
		return !v.IsNil() && none(v.Elem(), zero)
	case reflect.Slice:
		for i := range v.Len() {
			if none(v.Index(i), zero) {
				return true
			}
		}
		return v.Len() == 0
	case reflect.Map:
		return v.Len() == 0
	}
	return false
}
