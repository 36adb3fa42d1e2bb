package request

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Description is what is sent, as every view of it walks it: a page, a message, a command's
// output, a comparison. A view has words of its own for the four parts; all else that a
// request has stands in Others, and is shown as it is, never left out.
type Description struct {
	Method, URL string
	Query       countersign.Value // absent where there is none
	Body        countersign.Value // the exact JSON, absent where there is none
	Others      []Member
}

// Member is one member of a record, by its name in JSON.
type Member struct {
	Name  string
	Value countersign.Value
}

// Describe is the one description of what is sent.
func Describe(r countersign.Request) Description {
	d := Description{Method: r.Method, URL: r.URL, Others: Unlisted(r, "method", "url", "query", "body")}
	if fields, ok := r.Query.Object(); !ok && !r.Query.IsNull() || len(fields) > 0 {
		d.Query = r.Query
	}
	if !r.Body.IsNull() {
		d.Body = r.Body
	}
	return d
}

// Unlisted are the members of a record, a struct, that a view doesn't list itself, in the
// record's order and but for those that say nothing. So a view that was written before a
// member shows it too.
func Unlisted(record any, listed ...string) (out []Member) {
	v := reflect.Indirect(reflect.ValueOf(record))
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" || slices.Contains(listed, name) {
			continue
		}
		if value := valueOf(v.FieldByIndex(f.Index)); says(value) {
			out = append(out, Member{name, value})
		}
	}
	return out
}

func valueOf(v reflect.Value) countersign.Value {
	if v.IsZero() {
		return countersign.Value{}
	}
	value, err := countersign.ValueOf(v.Interface())
	if err != nil { // no record has such a value; what can't be written is said rather than hidden
		return countersign.String(fmt.Sprint(v.Interface()))
	}
	return value
}

// says reports a value that isn't absent and not the empty one of its kind.
func says(v countersign.Value) bool {
	return !slices.Contains([]string{"", "null", "{}", "[]", `""`, "false"}, v.Raw())
}

// Lines are a member for a reader, a line each with its name: the members of an object, such
// as headers, have lines of their own.
func (m Member) Lines() [][2]string {
	names, values := inOrder(m.Value)
	if len(names) == 0 {
		return [][2]string{{m.Name, plain(m.Value)}}
	}
	out := make([][2]string, len(names))
	for i, name := range names {
		out[i] = [2]string{cmp.Or(map[string]string{"headers": "header"}[m.Name], m.Name) + " " + name, plain(values[i])}
	}
	return out
}

// plain is a string as it reads, and any other value as JSON.
func plain(v countersign.Value) string {
	if v.Kind() == countersign.KindString {
		return v.Text()
	}
	return v.Raw()
}

// inOrder are the members of an object as they stand in it, none of another value.
func inOrder(v countersign.Value) (names []string, values []countersign.Value) {
	dec := json.NewDecoder(strings.NewReader(v.Raw()))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	for dec.More() {
		t, err := dec.Token()
		var raw json.RawMessage
		if err == nil {
			err = dec.Decode(&raw)
		}
		if err != nil {
			return nil, nil
		}
		names, values = append(names, t.(string)), append(values, countersign.RawValue(string(raw)))
	}
	return names, values
}
