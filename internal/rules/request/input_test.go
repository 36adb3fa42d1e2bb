package request

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// inputsOf reads a JSON object.
func inputsOf(t testing.TB, text string) map[string]countersign.Value {
	t.Helper()
	m, ok := countersign.RawValue(text).Object()
	if !ok {
		t.Fatalf("%s is no object", text)
	}
	return m
}

func bind(names ...string) map[string]countersign.Binding {
	out := map[string]countersign.Binding{}
	for _, name := range names {
		out[name] = countersign.Binding{StepID: "first", Field: "order.id"}
	}
	return out
}

func TestCheckInputs(t *testing.T) {
	declared := &countersign.Capability{
		Name: "refund", Method: "POST", Path: "/orders/{resourceId}/{line}",
		InputSchema: schema("line:number!", "amount:number!", "note:string", "flag:boolean", "tags:array", "extra:object"),
		Request:     mapped([]string{"flag"}, nil),
	}
	open := &countersign.Capability{Name: "search", Method: "GET", Path: "/search"}
	narrow := &countersign.Capability{Name: "narrow", Method: "POST", Path: "/narrow", Request: mapped([]string{"q"}, []string{"b"})}
	good := `"resourceId":"A-1","line":2,"amount":1.50`
	tests := []struct {
		name  string
		c     *countersign.Capability
		input string
		bound []string
		want  []string
	}{
		{"all required", declared, `{` + good + `}`, nil, nil},
		{"all there is", declared, `{` + good + `,"note":"","flag":false,"tags":[],"extra":{}}`, nil, nil},
		{"resourceId as a number", declared, `{"resourceId":17,"line":2,"amount":1}`, nil, nil},
		{"nothing", declared, `{}`, nil, []string{"input.amount", "input.line", "input.resourceId"}},
		{"all bound", declared, `{}`, []string{"amount", "line", "resourceId"}, nil},
		{"undeclared", declared, `{` + good + `,"other":1}`, nil, []string{"input.other"}},
		{"undeclared and bound", declared, `{` + good + `}`, []string{"other"}, []string{"inputBindings.other"}},
		{"literal and bound", declared, `{` + good + `}`, []string{"amount"}, []string{"inputBindings.amount"}},
		{"types are strict", declared, `{"resourceId":"A","line":"2","amount":"1.5","note":1,"flag":"true","tags":{},"extra":[]}`, nil,
			[]string{"input.amount", "input.extra", "input.flag", "input.line", "input.note", "input.tags"}},
		{"null fits no type", declared, `{"resourceId":null,"line":null,"amount":null,"note":null,"flag":null}`, nil,
			[]string{"input.amount", "input.flag", "input.line", "input.note", "input.resourceId"}},
		{"path values are ids", declared, `{"resourceId":"..","line":-1,"amount":1}`, nil, []string{"input.line", "input.resourceId"}},
		{"numbers as written", declared, `{"resourceId":"A","line":1.5,"amount":1}`, nil, nil},
		{"numbers that are no ids", declared, `{"resourceId":"A","line":1E+5,"amount":1}`, nil, []string{"input.line"}},
		{"booleans are no path values", declared, `{"resourceId":true,"line":1,"amount":1}`, nil, []string{"input.resourceId"}},

		{"undeclared inputs of no schema", open, `{"a":"x","b":1,"c":true}`, nil, nil},
		{"structures in a query", open, `{"a":[],"b":{},"c":null}`, nil, []string{"input.a", "input.b", "input.c"}},
		{"no place", narrow, `{"q":1,"b":[null],"x":1}`, []string{"y"}, []string{"input.x", "inputBindings.y"}},
		{"null in a body", narrow, `{"b":null}`, nil, nil},
	}
	for _, tt := range tests {
		got := CheckInputs(nil, tt.c, inputsOf(t, tt.input), bind(tt.bound...))
		if !slices.Equal(paths(got), append([]string{}, tt.want...)) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestPathValues(t *testing.T) {
	c := &countersign.Capability{Name: "c", Method: "GET", Path: "/orders/{resourceId}"}
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "a%2fb", "a b", "ü", "a\nb", "-a", "_a", "a?b", "a#b", `a\b`, "{resourceId}", strings.Repeat("a", 129)} {
		got := CheckInputs(nil, c, map[string]countersign.Value{"resourceId": countersign.String(bad)}, nil)
		if len(got) != 1 || got[0].Code != "not_an_id" {
			t.Errorf("%q: %v", bad, got)
		}
	}
	for _, good := range []string{"a", "A-1", "1.2", "a..b", "a_b", strings.Repeat("a", 128)} {
		if got := CheckInputs(nil, c, map[string]countersign.Value{"resourceId": countersign.String(good)}, nil); len(got) != 0 {
			t.Errorf("%q: %v", good, got)
		}
	}
}

// TestMessagesRepeatNoValue: inputs may be sensitive, and these texts are stored.
func TestMessagesRepeatNoValue(t *testing.T) {
	c := &countersign.Capability{Name: "c", Method: "GET", Path: "/{resourceId}", InputSchema: schema("a:number", "b:string")}
	got := CheckInputs(nil, c, inputsOf(t, `{"resourceId":"canary/1","a":"canary","b":["canary"],"z":"canary"}`), nil)
	if len(got) != 4 || strings.Contains(countersign.JoinProblems(got), "canary") {
		t.Error(got)
	}
}

func TestACapabilityWithABadPathMakesNothing(t *testing.T) {
	c := &countersign.Capability{Name: "c", Method: "GET", Path: "/../x"}
	if got := CheckInputs(nil, c, nil, nil); len(got) != 1 || got[0].Path != "capability" {
		t.Error(got)
	}
	if r, err := Build(nil, &countersign.Project{Adapter: countersign.AdapterLocalEcho}, c, nil); err == nil {
		t.Error(r)
	}
}
