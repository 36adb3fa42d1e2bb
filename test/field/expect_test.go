package field

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// expectations say of paths of a result what stands there.
type expectations map[string]matcher

// matcher is a condition on one value. Without any of the words it is equality.
type matcher struct {
	Is      *any   `yaml:"is"`
	Has     list   `yaml:"has"`     // the text, or the value's JSON, has each of these
	Lacks   list   `yaml:"lacks"`   // and none of these
	Matches string `yaml:"matches"` // RE2
	Absent  bool   `yaml:"absent"`
	Some    bool   `yaml:"some"`  // something that is not empty
	Count   *int   `yaml:"count"` // of members or elements
	OneOf   []any  `yaml:"oneOf"`
}

// list is one string or several.
type list []string

func (l *list) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = list{n.Value}
		return nil
	}
	return n.Decode((*[]string)(l))
}

var words = []string{"is", "has", "lacks", "matches", "absent", "some", "count", "oneOf"}

func (m *matcher) UnmarshalYAML(n *yaml.Node) error {
	worded := n.Kind == yaml.MappingNode && len(n.Content) > 0
	for i := 0; worded && i < len(n.Content); i += 2 {
		worded = slices.Contains(words, n.Content[i].Value)
	}
	if worded {
		type plain matcher
		return n.Decode((*plain)(m))
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	m.Is = &v
	return nil
}

// value is what stands at a path, if anything does.
type value struct {
	v     any
	there bool
}

// at follows a dotted path. In an array a part is an index, or the name or id of an element.
func at(v any, path string) value {
	for rest := path; rest != ""; {
		switch in := v.(type) {
		case map[string]any:
			part, more := longest(in, rest)
			next, ok := in[part]
			if !ok {
				return value{}
			}
			v, rest = next, more
		case []any:
			part, more, _ := strings.Cut(rest, ".")
			next, ok := element(in, part)
			if !ok {
				return value{}
			}
			v, rest = next, more
		default:
			return value{}
		}
	}
	return value{v, true}
}

// longest takes the longest member that the path begins with: members may have dots.
func longest(in map[string]any, path string) (part, rest string) {
	for end := len(path); end > 0; end = strings.LastIndex(path[:end], ".") {
		if _, ok := in[path[:end]]; ok {
			return path[:end], strings.TrimPrefix(path[end:], ".")
		}
	}
	part, rest, _ = strings.Cut(path, ".")
	return part, rest
}

func element(in []any, part string) (any, bool) {
	if i, err := strconv.Atoi(part); err == nil {
		if i < 0 || i >= len(in) {
			return nil, false
		}
		return in[i], true
	}
	for _, e := range in {
		if o, is := e.(map[string]any); is && (o["name"] == part || o["id"] == part) {
			return e, true
		}
	}
	return nil, false
}

// wrong says what is wrong with a value, or "".
func (m matcher) wrong(got value, fill func(string) string) string {
	shown := render(got.v)
	if m.Absent {
		if got.there {
			return fmt.Sprintf("is %s, and nothing should be there", shown)
		}
		return ""
	}
	if !got.there {
		return "isn't there"
	}
	text, is := got.v.(string)
	if !is {
		text = shown
	}
	if m.Some && (got.v == nil || text == "" || size(got.v) == 0) {
		return "is empty"
	}
	if m.Is != nil && !equal(normal(*m.Is, fill), got.v) {
		return fmt.Sprintf("is %s, not %s", shown, render(normal(*m.Is, fill)))
	}
	for _, part := range m.Has {
		if !strings.Contains(text, fill(part)) {
			return fmt.Sprintf("is %s, without %q", shown, fill(part))
		}
	}
	for _, part := range m.Lacks {
		if strings.Contains(text, fill(part)) {
			return fmt.Sprintf("is %s, with %q", shown, fill(part))
		}
	}
	if m.Matches != "" && !regexp.MustCompile(m.Matches).MatchString(text) {
		return fmt.Sprintf("is %s, which doesn't match %s", shown, m.Matches)
	}
	if m.Count != nil && size(got.v) != *m.Count {
		return fmt.Sprintf("has %d elements, not %d: %s", size(got.v), *m.Count, shown)
	}
	if m.OneOf != nil && !slices.ContainsFunc(m.OneOf, func(v any) bool { return equal(normal(v, fill), got.v) }) {
		return fmt.Sprintf("is %s, none of %s", shown, render(m.OneOf))
	}
	return ""
}

// blind reports in which way the matcher holds of a value that is none of those it asks for: it then
// proves nothing.
func (m matcher) blind(got value, fill func(string) string) string {
	for what, v := range m.others(got, fill) {
		if m.wrong(v, fill) == "" {
			return what
		}
	}
	return ""
}

// others are values at the place of what was seen that a case must not be content with.
func (m matcher) others(got value, fill func(string) string) map[string]value {
	if m.Absent {
		return map[string]value{"anything": {"~other~", true}, "null": {nil, true}}
	}
	out := map[string]value{"nothing": {}}
	if m.Some {
		out["null"], out["an empty text"], out["an empty list"] = value{nil, true}, value{"", true}, value{[]any{}, true}
	}
	for _, part := range m.Lacks {
		out["what it should lack, "+part] = value{fill(part), true}
	}
	if m.Is != nil || m.Has != nil || m.Matches != "" || m.OneOf != nil {
		out["another text"] = value{"~other~", true}
		out["another object"] = value{map[string]any{"~other~": true}, true}
	}
	if m.Count != nil {
		out["one more element"] = value{make([]any, *m.Count+1), true}
	}
	if n, is := got.v.(json.Number); is && m.Is != nil {
		out["a number beside it"] = value{json.Number(n.String() + "1"), true}
	}
	if b, is := got.v.(bool); is && m.Is != nil {
		out["the opposite"] = value{!b, true}
	}
	return out
}

func size(v any) int {
	switch v := v.(type) {
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return -1
}

// equal compares JSON values, numbers by exact value.
func equal(a, b any) bool {
	x, isX := a.(json.Number)
	y, isY := b.(json.Number)
	if isX && isY {
		p, okP := new(big.Rat).SetString(x.String())
		q, okQ := new(big.Rat).SetString(y.String())
		return okP && okQ && p.Cmp(q) == 0
	}
	switch a := a.(type) {
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for k := range a {
			if other, there := b[k]; !there || !equal(a[k], other) {
				return false
			}
		}
		return true
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, equal)
	}
	return reflect.DeepEqual(a, b)
}

// normal is a value of a case as JSON gives it, with the play's names filled in.
func normal(v any, fill func(string) string) any {
	switch v := v.(type) {
	case string:
		return fill(v)
	case map[string]any:
		out := map[string]any{}
		for k, member := range v {
			out[fill(k)] = normal(member, fill)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normal(v[i], fill)
		}
		return out
	case nil, bool, json.Number:
		return v
	}
	return json.Number(render(v))
}

func render(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const shown = 1500
	if len(raw) > shown {
		return string(raw[:shown]) + "…"
	}
	return string(raw)
}

// parse is JSON with exact numbers.
func parse(raw []byte) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
