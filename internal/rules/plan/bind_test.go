package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

func TestBindTakesFieldsOfVerifiedOutputs(t *testing.T) {
	s := countersign.Step{Input: inputs("note", `"x"`), InputBindings: map[string]countersign.Binding{
		"amount": {StepID: "look", Field: "total"}, "first": {StepID: "look", Field: "lines.0.sku"}, "all": {StepID: "pay", Field: "$"},
	}}
	outputs := map[string]plan.Output{
		"look": {Value: countersign.RawValue(`{"total":12.50,"lines":[{"sku":"s-1"}]}`)},
		"pay":  {Value: countersign.RawValue(`"done"`), OutputField: "state"},
	}
	got, err := plan.Bind(&s, outputs)
	if err != nil {
		t.Fatal(err)
	}
	want := inputs("note", `"x"`, "amount", "12.50", "first", `"s-1"`, "all", `"done"`)
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b countersign.Value) bool { return a.Raw() == b.Raw() })); diff != "" {
		t.Error(diff)
	}
	if len(s.Input) != 1 {
		t.Errorf("the plan's own input changed to %v", s.Input)
	}
}

func TestBindRefusesWhatIsNotThere(t *testing.T) {
	s := countersign.Step{InputBindings: map[string]countersign.Binding{"amount": {StepID: "look", Field: "total"}}}
	tests := []struct {
		outputs map[string]plan.Output
		want    string
	}{
		{nil, "input amount is bound to step look, which has no verified output"},
		{map[string]plan.Output{"look": {Value: countersign.RawValue(`{"sum":1}`)}}, "input amount is bound to look.total, which the output does not have"},
		{map[string]plan.Output{"look": {Value: countersign.Null}}, "input amount is bound to look.total, which the output does not have"},
	}
	for _, test := range tests {
		if _, err := plan.Bind(&s, test.outputs); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

func TestOutputFieldRules(t *testing.T) {
	tests := []struct{ name, output, outputField, field, want string }{
		{"a key", `{"a":1}`, "", "a", "1"},
		{"an exact key before a path", `{"a.b":1,"a":{"b":2}}`, "", "a.b", "1"},
		{"a path", `{"a":{"b":2}}`, "", "a.b", "2"},
		{"a path into an array", `{"a":[0,{"b":2}]}`, "", "a.1.b", "2"},
		{"an array by index", `[7,8]`, "", "1", "8"},
		{"an index out of range", `[7,8]`, "", "2", ""},
		{"null is found", `{"a":null}`, "", "a", "null"},
		{"nothing below null", `{"a":null}`, "", "a.b", ""},
		{"the whole by $", `{"a":1}`, "", "$", `{"a":1}`},
		{"a key $ before the whole", `{"$":1}`, "", "$", "1"},
		{"the whole scalar by $", `5`, "", "$", "5"},
		{"the whole by the outputField's name", `5`, "total", "total", "5"},
		{"the whole by a dotted outputField", `5`, "order.total", "order.total", "5"},
		{"a key before the outputField's name", `{"total":1}`, "total", "total", "1"},
		{"an object without such a key, by the outputField's name", `{"sum":1}`, "total", "total", `{"sum":1}`},
		{"another name is nothing", `5`, "total", "sum", ""},
		{"an empty answer is null", `null`, "", "$", "null"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, ok := plan.Output{Value: countersign.RawValue(test.output), OutputField: test.outputField}.Field(test.field)
			if v.Raw() != test.want || ok != (test.want != "") {
				t.Errorf("%q, %v, want %q", v.Raw(), ok, test.want)
			}
		})
	}
}

func TestSelectTakesTheOutputField(t *testing.T) {
	tests := []struct {
		body, field, want string
		ok                bool
	}{
		{`{"a":1}`, "", `{"a":1}`, true}, {`null`, "", `null`, true}, {`{"a":{"b":null}}`, "a.b", `null`, true},
		{`{"a":1}`, "b", ``, false}, {`null`, "a", ``, false}, {`[1]`, "0", `1`, true},
	}
	for _, test := range tests {
		out, ok := plan.Select(countersign.RawValue(test.body), test.field)
		if ok != test.ok || out.Value.Raw() != test.want || out.OutputField != test.field {
			t.Errorf("%s of %s is %+v, %v", test.field, test.body, out, ok)
		}
	}
}

func TestUnresolvedShowsWhereInputsComeFrom(t *testing.T) {
	s := bound(given(refund("b"), "note", `"x"`), "amount", "look", "order.total")
	want := inputs("note", `"x"`, "amount", `{"$from":"look.order.total"}`)
	if diff := cmp.Diff(want, plan.Unresolved(&s), cmp.Comparer(countersign.Value.Equal)); diff != "" {
		t.Error(diff)
	}
}
