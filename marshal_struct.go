package countersign

import (
	"reflect"
	"slices"
	"strings"
)

// field is one member of a struct's JSON.
type field struct {
	name   string
	tagged bool  // the name is from the tag
	index  []int // where it is, through embedded structs
	of     reflect.Type
	omit   func(v reflect.Value) bool // nil: never
	lead   string                     // what stands before its value: ,"name":
	encode encoder
}

// structEncoder leaves to encoding/json a struct that embeds a pointer or has a tag that
// asks for more than to omit.
func structEncoder(t reflect.Type) encoder {
	all, ok := fieldsOf(t, nil)
	if !ok {
		return marshalGeneral
	}
	var fields []field
	for _, f := range all {
		if !dominates(f, all) {
			continue
		}
		f.lead, f.encode = string(append(appendText([]byte{','}, f.name), ':')), encoderOf(f.of)
		fields = append(fields, f)
	}
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		first := len(b)
		for i := range fields {
			f := &fields[i]
			of := v
			for _, n := range f.index {
				of = of.Field(n)
			}
			if f.omit != nil && f.omit(of) {
				continue
			}
			if b, err = f.encode(append(b, f.lead...), of); err != nil {
				return b, err
			}
		}
		if len(b) == first {
			return append(b, "{}"...), nil
		}
		b[first] = '{' // the comma before the first member
		return append(b, '}'), nil
	}
}

// fieldsOf lists the fields of a struct and of those that it embeds, in order.
func fieldsOf(t reflect.Type, outer []int) (all []field, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		index := append(slices.Clone(outer), i)
		embeds := f.Anonymous && name == ""
		switch inner := embeds && f.Type.Kind() == reflect.Struct; {
		case tag == "-", !f.IsExported() && !inner:
			continue
		case inner:
			of, ok := fieldsOf(f.Type, index)
			if !ok {
				return nil, false
			}
			all = append(all, of...)
			continue
		case embeds && f.Type.Kind() == reflect.Pointer:
			return nil, false
		}
		made := field{name: name, tagged: name != "", index: index, of: f.Type}
		if name == "" {
			made.name = f.Name
		}
		for _, option := range strings.FieldsFunc(options, func(r rune) bool { return r == ',' }) {
			switch option {
			case "omitempty":
				made.omit = either(made.omit, isEmpty)
			case "omitzero":
				made.omit = either(made.omit, zeroOf(f.Type))
			default:
				return nil, false
			}
		}
		all = append(all, made)
	}
	return all, true
}

// dominates says whether f is the one of its name that is written: the one that is
// embedded least, of these the one whose tag names it, and none where two are left.
func dominates(f field, all []field) bool {
	for _, g := range all {
		if g.name != f.name || slices.Equal(g.index, f.index) {
			continue
		}
		if len(g.index) < len(f.index) || len(g.index) == len(f.index) && (g.tagged || !f.tagged) {
			return false
		}
	}
	return true
}

func either(one, other func(v reflect.Value) bool) func(v reflect.Value) bool {
	if one == nil {
		return other
	}
	return func(v reflect.Value) bool { return one(v) || other(v) }
}

// isEmpty is what omitempty omits.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

type zeroer interface{ IsZero() bool }

// zeroOf says what omitzero omits of a type.
func zeroOf(t reflect.Type) func(v reflect.Value) bool {
	switch {
	case t == valueType: // it is zero as its text is
		return reflect.Value.IsZero
	case t == timeType:
		return func(v reflect.Value) bool { return timeOf(v).IsZero() }
	case t.Kind() == reflect.Pointer && t.Implements(reflect.TypeFor[zeroer]()):
		return func(v reflect.Value) bool { return v.IsNil() || v.Interface().(zeroer).IsZero() }
	case t.Kind() != reflect.Interface && t.Implements(reflect.TypeFor[zeroer]()):
		return func(v reflect.Value) bool { return at[zeroer](v).IsZero() }
	default:
		return reflect.Value.IsZero
	}
}
