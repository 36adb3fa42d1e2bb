package harness

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Doc is a JSON object as tests write it.
type Doc = map[string]any

// JSON is a value of an answer, with exact numbers. The zero JSON is absent.
type JSON struct {
	value any
	there bool
}

// Absent is what Is expects if there must be no value.
var Absent = JSON{}

// Parse parses one JSON value.
func Parse(text []byte) (JSON, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return JSON{v, err == nil}, err
}

// At follows a path such as `steps.0.status`; it returns the absent JSON if there is no such value.
func (j JSON) At(path string) JSON {
	for _, part := range strings.Split(path, ".") {
		j = j.child(part)
	}
	return j
}

func (j JSON) child(part string) JSON {
	switch v := j.value.(type) {
	case map[string]any:
		found, ok := v[part]
		return JSON{found, ok}
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(v) {
			return JSON{v[i], true}
		}
	}
	return JSON{}
}

// Exists reports whether there is a value; null is one.
func (j JSON) Exists() bool { return j.there }

// Text is a string's content, "" for anything else.
func (j JSON) Text() string {
	s, _ := j.value.(string)
	return s
}

// Int is a whole number's value, 0 for anything else.
func (j JSON) Int() int {
	n, _ := j.value.(json.Number)
	i, _ := strconv.Atoi(n.String())
	return i
}

// Items are the elements of an array.
func (j JSON) Items() []JSON {
	a, _ := j.value.([]any)
	out := make([]JSON, len(a))
	for i, v := range a {
		out[i] = JSON{v, true}
	}
	return out
}

// Keys are the member names of an object.
func (j JSON) Keys() []string {
	m, _ := j.value.(map[string]any)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// Doc returns a copy of an object, to change and send back.
func (j JSON) Doc() Doc {
	m, _ := copied(j.value).(map[string]any)
	return m
}

// String is the value as JSON text.
func (j JSON) String() string {
	if !j.there {
		return "(absent)"
	}
	b, _ := json.Marshal(j.value) // never fails for a decoded value
	return string(b)
}

// Is checks the value at a path; want is anything that can be encoded as JSON, or Absent. Numbers are
// compared by value.
func (j JSON) Is(t testing.TB, path string, want any) JSON {
	t.Helper()
	got := j.At(path)
	if diff := cmp.Diff(normal(t, want), normal(t, got), exactNumbers); diff != "" {
		t.Errorf("%s is not as expected (-want +got):\n%s", path, diff)
	}
	return j
}

// Has checks that the text at a path contains each part.
func (j JSON) Has(t testing.TB, path string, parts ...string) JSON {
	t.Helper()
	contains(t, path, j.At(path).String(), parts)
	return j
}

func contains(t testing.TB, what, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s is %q; expected it to hold %q", what, text, part)
		}
	}
}

// exactNumbers compares numbers by exact value: 1 equals 1.0.
var exactNumbers = cmp.Comparer(func(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, ok := new(big.Rat).SetString(a.String())
	y, also := new(big.Rat).SetString(b.String())
	return ok && also && x.Cmp(y) == 0
})

// normal converts expected and actual values to the same form.
func normal(t testing.TB, v any) any {
	t.Helper()
	if j, ok := v.(JSON); ok {
		if !j.there {
			return "(absent)"
		}
		return j.value
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return j.value
}

// With returns a copy of doc with the value at a path set; it creates missing objects on the path.
func With(doc Doc, path string, v any) Doc {
	out := copied(doc).(map[string]any)
	set(out, strings.Split(path, "."), v)
	return out
}

// Without returns a copy of doc without the value at a path.
func Without(doc Doc, path string) Doc {
	out := copied(doc).(map[string]any)
	parts := strings.Split(path, ".")
	last := len(parts) - 1
	if holder, ok := reach(out, parts[:last]).(map[string]any); ok {
		delete(holder, parts[last])
	}
	return out
}

func set(into any, parts []string, v any) {
	last := len(parts) - 1
	switch holder := reach(into, parts[:last]).(type) {
	case map[string]any:
		holder[parts[last]] = v
	case []any:
		i, _ := strconv.Atoi(parts[last])
		holder[i] = v
	}
}

func reach(v any, parts []string) any {
	for _, part := range parts {
		switch holder := v.(type) {
		case map[string]any:
			if holder[part] == nil {
				holder[part] = map[string]any{}
			}
			v = holder[part]
		case []any:
			i, _ := strconv.Atoi(part)
			v = holder[i]
		}
	}
	return v
}

// copied copies objects and arrays, so that changing a sample doesn't change others.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, member := range v {
			out[k] = copied(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	case []string:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = element
		}
		return out
	case []Doc:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	default:
		return v
	}
}

// Without returns an object's members without one.
func (j JSON) Without(name string) Doc {
	d := j.Doc()
	delete(d, name)
	return d
}
