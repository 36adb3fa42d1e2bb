// Package edition says whether a record holds anything that came with a later edition of the
// vocabulary: a field with the struct tag `since`. Which receipts have a later format and
// which stores refuse an earlier release follows from that; nothing lists these fields. It
// is pure.
package edition

import (
	"reflect"
	"strconv"
	"sync"
)

// Third is the edition that the first tagged fields came with.
const Third = 3

// Tag is the struct tag of a field with the number of its edition.
const Tag = "since"

// Has reports that a value holds a field of that edition or a later one, at any depth, that
// isn't empty. It looks into exported fields only.
func Has(edition int, v any) bool { return has(edition, reflect.ValueOf(v)) }

func has(edition int, v reflect.Value) bool {
	if !v.IsValid() || !mayHave(v.Type()) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return has(edition, v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if has(edition, v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			if has(edition, at.Value()) {
				return true
			}
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if at := v.Field(f.index); f.since >= edition && !empty(at) || has(edition, at) {
				return true
			}
		}
	}
	return false
}

// field is an exported field that has the tag, or may have one below it.
type field struct{ index, since int }

var fields sync.Map // reflect.Type to []field: a tag is read once, and not with each record

func fieldsOf(t reflect.Type) []field {
	if found, ok := fields.Load(t); ok {
		return found.([]field)
	}
	var all []field
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && (since(f) > 0 || mayHave(f.Type)) {
			all = append(all, field{i, since(f)})
		}
	}
	fields.Store(t, all)
	return all
}

// since is the edition that a field came with, 0 for those of the first two.
func since(f reflect.StructField) int {
	n, _ := strconv.Atoi(f.Tag.Get(Tag))
	return n
}

// empty reports what isn't written.
func empty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

var known sync.Map // reflect.Type to bool: mayHave

// mayHave reports a type with a tagged field somewhere in it. Most have none, and the values
// of a run are many.
func mayHave(t reflect.Type) bool {
	if found, ok := known.Load(t); ok {
		return found.(bool)
	}
	found := tagged(t, map[reflect.Type]bool{})
	known.Store(t, found)
	return found
}

func tagged(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return tagged(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && (since(f) > 0 || tagged(f.Type, seen)) {
				return true
			}
		}
	}
	return false
}
