package request

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func several(kinds string, change func(*countersign.InputField)) *countersign.Capability {
	list := strings.Split(kinds, " ")
	f := countersign.InputField{Type: list[0], OrTypes: list[1:]}
	if change != nil {
		change(&f)
	}
	return &countersign.Capability{Name: "c", Method: "POST", Path: "/o", InputSchema: map[string]countersign.InputField{"to": f}}
}

// TestAnInputOfSeveralTypesTakesEachAndNoOther.
func TestAnInputOfSeveralTypesTakesEachAndNoOther(t *testing.T) {
	c := several("string array", nil)
	for input, want := range map[string]string{
		`{"to":"a"}`: "", `{"to":["a",{"b":1}]}`: "", `{}`: "",
		`{"to":1}`: "input.to: must be string or array, not number", `{"to":{}}`: "input.to: must be string or array, not object",
	} {
		if got := countersign.JoinProblems(CheckInputs(nil, c, inputsOf(t, input), nil)); got != want {
			t.Errorf("%s: %s", input, got)
		}
	}
	r, err := Build(nil, shop, c, inputsOf(t, `{"to":["a"]}`))
	if err != nil || r.Body.Raw() != `{"to":["a"]}` {
		t.Errorf("%s, %v", r.Body.Raw(), err)
	}
	if types, ok := TypesOf(c, "to"); !ok || strings.Join(types, " ") != "string array" {
		t.Errorf("%v", types)
	}
}

// TestWhatIsSaidOfSeveralTypesHoldsForEach: a bound of one of them would be passed by with
// another, and a place takes all or none.
func TestWhatIsSaidOfSeveralTypesHoldsForEach(t *testing.T) {
	five, text := countersign.RawValue("5"), countersign.String("x")
	for _, test := range []struct {
		kinds  string
		change func(*countersign.InputField)
		path   string
		want   string
	}{
		{"string array", nil, "/o", ""},
		{"number boolean", func(f *countersign.InputField) { f.Minimum = five }, "/o", ""},
		{"string number", func(f *countersign.InputField) { f.Minimum = five }, "/o", "inputSchema.to.minimum: is for inputs of type number only, and this one is string or number"},
		{"number string", func(f *countersign.InputField) { f.Maximum = five }, "/o", "inputSchema.to.maximum: is for inputs of type number only, and this one is number or string"},
		{"boolean array", func(f *countersign.InputField) { f.Maximum = five }, "/o", "inputSchema.to.maximum: is for inputs of type number only, and this one is boolean or array"},
		{"string number", func(f *countersign.InputField) { f.MaxLength = 5 }, "/o", "inputSchema.to.maxLength: is for inputs of type string only, and this one is string or number"},
		{"string array", func(f *countersign.InputField) { f.Pattern = "a" }, "/o", "inputSchema.to.pattern: is for inputs of type string only, and this one is string or array"},
		{"string number", func(f *countersign.InputField) { f.Enum = []countersign.Value{five, text} }, "/o", ""},
		{"string number", func(f *countersign.InputField) { f.Enum = []countersign.Value{countersign.Bool(true)} }, "/o", "inputSchema.to.enum[0]: must be string or number, as the input is, not boolean"},
		{"string text", nil, "/o", "inputSchema.to.orTypes[0]: must be one of string, number, boolean, object, array"},
		{"string string", nil, "/o", "inputSchema.to.orTypes[0]: string is a type of the input already"},
		{"string number", nil, "/o/{to}", ""},
		{"string boolean", nil, "/o/{to}", "inputSchema.to.type: fills {to} in the path, so it must be string or number"},
	} {
		c := several(test.kinds, test.change)
		c.Path = test.path
		if got := countersign.JoinProblems(CheckCapability(nil, c)); got != test.want {
			t.Errorf("%s in %s: %s", test.kinds, test.path, got)
		}
	}
	c := several("string array", nil)
	c.Method = "GET"
	if got := countersign.JoinProblems(CheckCapability(nil, c)); got != "inputSchema.to.type: goes to the query, which carries string, number and boolean only" {
		t.Error(got)
	}
	c = several("string array", nil)
	c.Request = &countersign.RequestMapping{Query: []string{"to"}}
	if got := countersign.JoinProblems(CheckCapability(nil, c)); got != "request.query[0]: to is declared as string or array; a query carries string, number and boolean only" {
		t.Error(got)
	}
}

// TestNoDottedPathLeadsIntoSeveralTypes.
func TestNoDottedPathLeadsIntoSeveralTypes(t *testing.T) {
	c := several("string object", nil)
	c.Title = "To {to.name}"
	if got := countersign.JoinProblems(CheckCapability(nil, c)); got != "title: {to.name}: to is string or object, and a dotted path leads only into an input of one type" {
		t.Error(got)
	}
	c.Title = "To {to}"
	if got := CheckCapability(nil, c); len(got) > 0 {
		t.Error(got)
	}
}

// TestAcceptIsOneJSONMediaType.
func TestAcceptIsOneJSONMediaType(t *testing.T) {
	for text, want := range map[string]bool{
		"application/json": true, "application/vnd.x+json;version=2": true, "application/vnd.pagerduty+json; version=2": true, "application/problem+json": true,
		"": false, "*/*": false, "application/*": false, "text/html": false, "application/xml, application/json": false, "application/jsonx": false, "json": false,
		"application/json\r\nX: y": false, "application/x+json;a=\"ö\"": false, "application/json;" + strings.Repeat(" ", 300) + "a=b": false,
	} {
		if got := IsJSONMediaType(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
