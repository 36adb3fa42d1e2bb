package request_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

func fieldOf(t *testing.T, text string) countersign.InputField {
	t.Helper()
	var f countersign.InputField
	v := countersign.RawValue(text)
	m, ok := v.Object()
	if !ok {
		t.Fatal(text)
	}
	f.Type, f.Pattern, f.Minimum, f.Maximum = m["type"].Text(), m["pattern"].Text(), m["minimum"], m["maximum"]
	f.Enum, _ = m["enum"].Array()
	if length, ok := m["maxLength"]; ok {
		for range length.Text() {
			f.MaxLength = f.MaxLength*10 + 1 // as many ones as it has digits
		}
	}
	return f
}

func TestConstraintsFitTheirField(t *testing.T) {
	for _, test := range []struct{ field, want string }{
		{`{"type":"number","minimum":0,"maximum":1e2}`, ""},
		{`{"type":"number","minimum":1.0,"maximum":1}`, ""},
		{`{"type":"number","minimum":2,"maximum":1.9}`, "inputSchema.a.maximum"},
		{`{"type":"number","minimum":"0"}`, "inputSchema.a.minimum"},
		{`{"type":"number","minimum":null}`, "inputSchema.a.minimum"},
		{`{"type":"string","maximum":1}`, "inputSchema.a.maximum"},
		{`{"type":"string","maxLength":1}`, ""},
		{`{"type":"array","maxLength":1}`, "inputSchema.a.maxLength"},
		{`{"type":"string","pattern":"^[A-Z]{3}$"}`, ""},
		{`{"type":"string","pattern":"("}`, "inputSchema.a.pattern"},
		{`{"type":"string","pattern":"(?=a)b"}`, "inputSchema.a.pattern"},
		{`{"type":"string","pattern":"(a{40}){50}b{900}"}`, "inputSchema.a.pattern"},
		{`{"type":"number","pattern":"1"}`, "inputSchema.a.pattern"},
		{`{"type":"string","enum":["EUR","USD"]}`, ""},
		{`{"type":"string","enum":["EUR",1]}`, "inputSchema.a.enum[1]"},
		{`{"type":"number","enum":[1,200],"maximum":100}`, "inputSchema.a.enum[1]"},
		{`{"type":"string","enum":["EUR"],"pattern":"^U"}`, "inputSchema.a.enum[0]"},
		{`{"type":"object","enum":[{"a":1}]}`, ""},
	} {
		c := countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: map[string]countersign.InputField{"a": fieldOf(t, test.field)}}
		problems := request.CheckCapability(nil, &c)
		if test.want == "" && len(problems) > 0 || test.want != "" && (len(problems) != 1 || problems[0].Path != test.want) {
			t.Errorf("%s: %v, want %q", test.field, problems, test.want)
		}
	}
}

// TestValuesMeetTheConstraints, literal ones when a plan is made and bound ones when the
// request is: both go the same way.
func TestValuesMeetTheConstraints(t *testing.T) {
	for _, test := range []struct {
		field, value string
		fits         bool
	}{
		{`{"type":"number","minimum":0.1}`, `0.1`, true},
		{`{"type":"number","minimum":0.1}`, `1e-1`, true},
		{`{"type":"number","minimum":0.1}`, `0.0999999999999999999999999`, false},
		{`{"type":"number","maximum":9007199254740992}`, `9007199254740993`, false},
		{`{"type":"number","maximum":-1}`, `-2`, true},
		{`{"type":"number","maximum":-1}`, `0`, false},
		{`{"type":"number","enum":[1,2.50]}`, `2.5`, true},
		{`{"type":"number","enum":[1,2.50]}`, `2.51`, false},
		{`{"type":"string","enum":["EUR"]}`, `"EUR"`, true},
		{`{"type":"string","enum":["EUR"]}`, `"eur"`, false},
		{`{"type":"string","enum":["EUR"]}`, `"\u0045UR"`, true},
		{`{"type":"string","maxLength":1}`, `"é"`, true},
		{`{"type":"string","maxLength":1}`, `"😀"`, true},
		{`{"type":"string","maxLength":1}`, `"e\u0301"`, false},
		{`{"type":"string","pattern":"^[A-Z]{3}$"}`, `"EUR"`, true},
		{`{"type":"string","pattern":"^[A-Z]{3}$"}`, `"EUR\n"`, false},
		{`{"type":"string","pattern":"UR"}`, `"xEURx"`, true},
		{`{"type":"string","pattern":"x"}`, `"` + strings.Repeat("x", 10_001) + `"`, false},
		{`{"type":"boolean","enum":[true]}`, `false`, false},
		{`{"type":"object","enum":[{"a":1,"b":2}]}`, `{"b":2,"a":1.0}`, true},
	} {
		c := &countersign.Capability{Name: "c", Method: "POST", Path: "/r", InputSchema: map[string]countersign.InputField{"a": fieldOf(t, test.field)}}
		input := map[string]countersign.Value{"a": countersign.RawValue(test.value)}
		problems := request.CheckInputs(nil, c, input, nil)
		if (len(problems) == 0) != test.fits {
			t.Errorf("%s, %.40s: %v", test.field, test.value, problems)
		}
		if len(problems) > 0 && (problems[0].Path != "input.a" || strings.Contains(problems[0].Message, input["a"].Text()) && len(input["a"].Text()) > 2) {
			t.Errorf("%s, %.40s: %v", test.field, test.value, problems)
		}
		if _, err := request.Build(nil, &countersign.Project{BaseURL: "https://a.example"}, c, input); (err == nil) != test.fits {
			t.Errorf("%s, %.40s: the request: %v", test.field, test.value, err)
		}
	}
}
