package exactjson

import (
	"fmt"
	"reflect"
	"strings"
)

// maxFields is how many fields a struct may have: one bit each.
const maxFields = 64

// object makes the plan of a struct from its fields and their tags.
func (b planner) object(t reflect.Type) *object {
	o := &object{byName: map[string]int{}}
	b.collect(o, t, nil)
	if len(o.fields) > maxFields {
		panic(fmt.Sprintf("exact: %s has more than %d fields", t, maxFields))
	}
	o.known = o.names()
	return o
}

// collect adds the fields of t, which stands at index in the outermost struct.
// Those of an embedded struct stand behind what is around them and give way to
// it where they share a name.
func (b planner) collect(o *object, t reflect.Type, index []int) {
	var embedded []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			embedded = append(embedded, f)
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			panic(fmt.Sprintf("exact: can't decode into the embedded pointer %s.%s", t, f.Name))
		case f.Tag.Get("readOnly") == "true": // the service sets it: from outside it is an unknown field
		case f.IsExported() && name != "-":
			b.add(o, t, f, name, options, index)
		}
	}
	for _, f := range embedded {
		b.collect(o, f.Type, below(index, f))
	}
}

func (b planner) add(o *object, t reflect.Type, f reflect.StructField, name, options string, index []int) {
	if name == "" {
		name = f.Name
	}
	if _, taken := o.byName[name]; taken {
		return
	}
	o.byName[name] = len(o.fields)
	o.fields = append(o.fields, field{
		name:     name,
		key:      []byte(name),
		index:    below(index, f),
		required: !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"),
		null:     nullOf(t, f),
		plan:     b.plan(f.Type),
		rules:    rulesOf(t, f),
	})
}

// below is the index of a field of the struct at index, in a slice of its own.
func below(index []int, f reflect.StructField) []int {
	return append(append([]int(nil), index...), f.Index...)
}

// What the tag null of an optional field says of an explicit null.
const (
	nullIsAbsent  = "absent"  // as it is for all but values
	nullIsRefused = "refused" // absent means without a limit, which no null may say
)

func nullOf(t reflect.Type, f reflect.StructField) string {
	switch null := f.Tag.Get("null"); null {
	case "", nullIsAbsent, nullIsRefused:
		return null
	default:
		panic(fmt.Sprintf("exact: the tag null of %s.%s is neither %s nor %s", t, f.Name, nullIsAbsent, nullIsRefused))
	}
}
