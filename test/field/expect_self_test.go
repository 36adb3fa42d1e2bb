package field

import (
	"encoding/json"
	"testing"

	"go.yaml.in/yaml/v3"
)

func matcherOf(t *testing.T, text string) (m matcher) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func asItIs(s string) string { return s }

// TestAnExpectationThatHoldsOfAnythingIsFound: a case with one would look as if it proved something.
func TestAnExpectationThatHoldsOfAnythingIsFound(t *testing.T) {
	for text, seen := range map[string]any{
		`{has: ""}`: "some text", `{has: []}`: "some text", `{lacks: nothing}`: json.Number("5"), `{matches: .*}`: "x", `{matches: .}`: true,
		`{oneOf: [a, "~other~"]}`: "a", `{has: other}`: "other",
	} {
		m := matcherOf(t, text)
		if wrong := m.wrong(value{seen, true}, asItIs); wrong != "" {
			t.Errorf("%s of %v: %s", text, seen, wrong)
		}
		if blind := m.blind(value{seen, true}, asItIs); (blind == "") != (text == `{lacks: nothing}`) {
			t.Errorf("%s of %v is blind for %q", text, seen, blind)
		}
	}
	for text, seen := range map[string]value{
		`5`: {json.Number("5.0"), true}, `true`: {true, true}, `null`: {nil, true}, `{a: [1]}`: {map[string]any{"a": []any{json.Number("1")}}, true}, `{absent: true}`: {},
		`{has: [b, c]}`: {"abc", true}, `{matches: ^ab}`: {"abc", true}, `{count: 0}`: {[]any{}, true}, `{some: true}`: {"x", true}, `{oneOf: [1, 2]}`: {json.Number("2"), true},
	} {
		m := matcherOf(t, text)
		if wrong := m.wrong(seen, asItIs); wrong != "" {
			t.Errorf("%s: %s", text, wrong)
		}
		if blind := m.blind(seen, asItIs); blind != "" {
			t.Errorf("%s is blind for %q", text, blind)
		}
	}
}

// TestWhatIsNotExpectedIsWrong, with values that are near what is.
func TestWhatIsNotExpectedIsWrong(t *testing.T) {
	for _, c := range []struct {
		expected string
		seen     value
	}{
		{`5`, value{json.Number("5.0000000000000000000001"), true}}, {`9007199254740993`, value{json.Number("9007199254740992"), true}},
		{`5`, value{"5", true}}, {`null`, value{}}, {`{absent: true}`, value{nil, true}}, {`{}`, value{map[string]any{"a": nil}, true}}, {`[1, 2]`, value{[]any{json.Number("2"), json.Number("1")}, true}},
		{`{some: true}`, value{"", true}}, {`{count: 1}`, value{"x", true}}, {`{has: a, lacks: b}`, value{"ab", true}}, {`{lacks: a}`, value{}},
	} {
		m := matcherOf(t, c.expected)
		if m.wrong(c.seen, asItIs) == "" {
			t.Errorf("%s holds of %v", c.expected, c.seen)
		}
	}
}

func TestAPathFindsMembersWithDotsAndElementsByTheirNames(t *testing.T) {
	v, err := parse([]byte(`{"a.b":{"c":1},"list":[{"name":"x","n":2},{"id":"y","n":3}],"q":{"a":{"b":4}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a.b.c": "1", "list.0.n": "2", "list.x.n": "2", "list.y.n": "3", "q.a.b": "4"} {
		if got := at(v, path); got.v != json.Number(want) {
			t.Errorf("%s is %v", path, got.v)
		}
	}
	for _, path := range []string{"a.c", "list.2", "list.z", "q.a.b.c"} {
		if at(v, path).there {
			t.Errorf("%s is there", path)
		}
	}
}
