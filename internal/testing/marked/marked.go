// Package marked fills in every field of a record, so that a test can look for each of them
// in what shows the record. A field that is added to a record is filled in too: whoever adds
// it need not remember the tests, and a view that leaves it out fails.
package marked

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// Text is a text that a field has, and the field's path in JSON.
type Text struct{ Path, Mark string }

// Fill sets each field below a pointer to a record. The texts are those of strings and
// values, each another one; a field of few words (enum) has its first and isn't among them.
func Fill(record any) []Text {
	m := &marker{}
	m.fill(reflect.ValueOf(record).Elem(), "", "")
	return m.texts
}

// Missing are the texts that stand in none of the shown texts and that aren't excused. A
// path stands for what is below it.
func Missing(texts []Text, shown string, excused map[string]string) (out []string) {
	shown = strings.ToLower(shown) // a sentence may begin with it
	for _, t := range texts {
		if !strings.Contains(shown, t.Mark) && !isExcused(t.Path, excused) {
			out = append(out, t.Path)
		}
	}
	return out
}

func isExcused(path string, excused map[string]string) bool {
	for name := range excused {
		if path == name || strings.HasPrefix(path, name+".") {
			return true
		}
	}
	return false
}

type marker struct {
	texts  []Text
	within []reflect.Type // records around the present one: one that holds its like holds none
}

var (
	moment = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	valued = reflect.TypeFor[countersign.Value]()
	timed  = reflect.TypeFor[time.Time]()
)

func (m *marker) fill(v reflect.Value, path, tag string) {
	switch {
	case v.Type() == valued:
		v.Set(reflect.ValueOf(countersign.String(m.mark(path))))
		return
	case v.Type() == timed:
		v.Set(reflect.ValueOf(moment))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if first, _, _ := strings.Cut(tag, ","); first != "" {
			v.SetString(first)
		} else {
			v.SetString(m.mark(path))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), path, tag)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		m.fill(v.Index(0), path, tag)
	case reflect.Map:
		of := reflect.New(v.Type().Elem()).Elem()
		m.fill(of, path, "")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), of)
	case reflect.Struct:
		if !slices.Contains(m.within, v.Type()) {
			m.within = append(m.within, v.Type())
			m.fields(v, path)
			m.within = m.within[:len(m.within)-1]
		}
	default:
		panic(fmt.Sprintf("marked: %s is a %s, which it can't fill; teach it", path, v.Type()))
	}
}

func (m *marker) fields(v reflect.Value, path string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
		case f.Anonymous:
			m.fill(v.Field(i), path, "")
		default:
			m.fill(v.Field(i), strings.TrimPrefix(path+"."+name, "."), f.Tag.Get("enum"))
		}
	}
}

func (m *marker) mark(path string) string {
	text := fmt.Sprintf("mark%dx", 100+len(m.texts))
	m.texts = append(m.texts, Text{path, text})
	return text
}
