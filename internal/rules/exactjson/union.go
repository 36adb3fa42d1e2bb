package exactjson

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/countersign/countersign"
)

// union is a type that is one of several structs, told apart by the member
// kind. Variant returns a pointer to the one to fill, nil for an unknown kind.
type union interface{ Variant(kind string) any }

var unionType = reflect.TypeFor[union]()

const kindField = "kind"

// shaped is a type that is an object or an array of such objects. Shape returns a
// pointer to what to fill.
type shaped interface{ Shape(array bool) any }

var shapedType = reflect.TypeFor[shaped]()

func fillShaped(p *plan) {
	p.wanted = "an object or an array of objects"
	p.read = func(d *decoder, at int, v reflect.Value, _ *rules) {
		kind := d.kind(at)
		if kind != countersign.KindArray && !d.is(at, countersign.KindObject, p.wanted) {
			return
		}
		target := reflect.ValueOf(v.Addr().Interface().(shaped).Shape(kind == countersign.KindArray)).Elem()
		planOf(target.Type()).read(d, at, target, noRules)
	}
}

// fillUnion reads the variant that kind names, wherever in the object kind
// stands: the tape finds it without reading what lies before it.
func (b planner) fillUnion(p *plan, t reflect.Type) {
	kinds := kindsOf(t)
	wanted := strings.Join(kinds, " or ")
	p.wanted = "an object of kind " + wanted
	p.read = func(d *decoder, at int, v reflect.Value, _ *rules) {
		if !d.is(at, countersign.KindObject, p.wanted) {
			return
		}
		kind, ok := d.unionKind(at, wanted)
		if !ok {
			return
		}
		variant := v.Addr().Interface().(union).Variant(kind)
		if variant == nil {
			d.path.enterKey([]byte(kindField))
			d.problem("kind", func() string { return "must be " + wanted })
			d.path.leave()
			return
		}
		target := reflect.ValueOf(variant).Elem()
		planOf(target.Type()).read(d, at, target, noRules)
	}
}

// unionKind finds the member kind of an object, or notes what is wrong with it.
func (d *decoder) unionKind(at int, wanted string) (kind string, ok bool) {
	otherCase := -1
	for name := at + 1; name < d.next(at); name = d.next(name + 1) {
		switch key := d.content(name); {
		case string(key) == kindField:
			return d.kindText(name, wanted)
		case bytes.EqualFold(key, []byte(kindField)):
			otherCase = name
		}
	}
	d.noKind(otherCase, wanted)
	return "", false
}

func (d *decoder) kindText(name int, wanted string) (kind string, ok bool) {
	d.path.enterKey([]byte(kindField))
	defer d.path.leave()
	if !d.is(name+1, countersign.KindString, wanted) {
		return "", false
	}
	return string(d.content(name + 1)), true
}

// noKind notes that kind is missing, or spelt in another case.
func (d *decoder) noKind(otherCase int, wanted string) {
	if otherCase >= 0 {
		d.otherCase = true
		d.path.enterKey(d.content(otherCase))
		d.problem("other_case", func() string { return "must be spelt " + kindField + ": upper and lower case differ" })
	} else {
		d.path.enterKey([]byte(kindField))
		d.problem("kind", func() string { return "is missing; it must be " + wanted })
	}
	d.path.leave()
}

// kindsOf lists the kinds of a union: its fields point to the variants, and the
// enum tag of a variant's kind names it.
func kindsOf(t reflect.Type) []string {
	var kinds []string
	for i := range t.NumField() {
		f := t.Field(i).Type
		if f.Kind() != reflect.Pointer || f.Elem().Kind() != reflect.Struct {
			continue
		}
		for j := range f.Elem().NumField() {
			tag := f.Elem().Field(j).Tag
			if tag.Get("json") == kindField {
				kinds = append(kinds, tag.Get("enum"))
			}
		}
	}
	if len(kinds) == 0 {
		panic(fmt.Sprintf("exact: the union %s points to no struct with a kind", t))
	}
	return kinds
}
