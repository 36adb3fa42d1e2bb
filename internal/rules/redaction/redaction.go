package redaction

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// Run gives a run, with its steps and its plan as far as it has them, without what it held.
func Run(r *countersign.Run, by countersign.Redaction) countersign.Run {
	out := stripped(*r)
	out.Redacted = &by
	if out.PlanSnapshot != nil {
		out.PlanSnapshot.RedactedAt = by.At
	}
	return out
}

// Step gives a step of a run without what it held.
func Step(s *countersign.StepRun) countersign.StepRun { return stripped(*s) }

// Probe gives a probe without what it sent and was answered.
func Probe(p *countersign.ProbeRecord) countersign.ProbeRecord { return stripped(*p) }

// Approval gives an approval without what it asked for.
func Approval(a *countersign.Approval, at time.Time) countersign.Approval {
	out := stripped(*a)
	out.RedactedAt = at
	return out
}

// Plan gives a plan without what its steps hold.
func Plan(p *countersign.Plan, at time.Time) countersign.Plan {
	out := stripped(*p)
	out.RedactedAt = at
	return out
}

// stripped is a copy, since records in memory are shared.
func stripped[T any](v T) T {
	return strip(reflect.ValueOf(v)).Interface().(T)
}

var valueType = reflect.TypeFor[countersign.Value]()

// strip copies a described record, or what holds such records.
func strip(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(strip(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(strip(v.Index(i)))
		}
		return out
	default:
		return stripFields(v)
	}
}

func stripFields(v reflect.Value) reflect.Value {
	out, of := reflect.New(v.Type()).Elem(), records[v.Type()]
	for i := range v.NumField() {
		name, from, to := v.Type().Field(i).Name, v.Field(i), out.Field(i)
		switch {
		case slices.Contains(of.keeps, name):
			to.Set(from)
		case slices.Contains(of.codes, name):
			to.SetString(codeOf(from.String()))
		case slices.Contains(of.blanks, name):
		case isDescribed(from.Type()):
			to.Set(strip(from))
		default:
			to.Set(removed(from))
		}
	}
	return out
}

// isDescribed reports what holds described records.
func isDescribed(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	_, is := records[t]
	return is
}

// removed is what stands in a field's place.
func removed(v reflect.Value) reflect.Value {
	switch {
	case v.Type() == valueType:
		if given := v.Interface().(countersign.Value); !given.IsZero() && !given.IsNull() {
			return reflect.ValueOf(countersign.RedactedValue)
		}
		return v
	case v.Kind() == reflect.String && v.Len() > 0:
		return reflect.ValueOf(countersign.RedactedText).Convert(v.Type())
	case v.Kind() == reflect.Map && !v.IsNil():
		out := reflect.MakeMap(v.Type())
		for at := v.MapRange(); at.Next(); {
			out.SetMapIndex(at.Key(), removed(at.Value()))
		}
		return out
	}
	return reflect.Zero(v.Type())
}

func codeOf(text string) string {
	code, _, says := strings.Cut(text, ": ")
	if !says {
		return ""
	}
	return code + ": " + countersign.RedactedText
}
