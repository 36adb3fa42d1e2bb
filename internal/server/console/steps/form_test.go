package steps

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// shopSteps is a form whose steps may call two capabilities, one with declared inputs.
func shopSteps(form url.Values) *Form {
	r := httptest.NewRequest("GET", "/console/plans/+form", nil)
	r.PostForm = form
	declared := &countersign.Capability{Name: "refunds.create", Method: "POST", Path: "/refunds", InputSchema: map[string]countersign.InputField{
		"orderId": {Type: "string"}, "amount": {Type: "number"}, "a b": {Type: "object"}, "fast": {Type: "boolean"}, "kind": {Type: "string", Enum: []countersign.Value{countersign.String("x"), countersign.String("y")}},
	}}
	return &Form{Request: &web.Request{R: r}, Offers: []Offer{
		{Owner: "acme-shop", Word: "Shop", Capability: declared},
		{Owner: "acme-shop", Word: "Shop", Capability: &countersign.Capability{Name: "free/form", Method: "POST", Path: "/x"}},
	}}
}

// drawStep draws a step that may come after earlier ones and take their outputs.
func drawStep(t *rapid.T, i int) BuiltStep {
	s := BuiltStep{ID: "s" + strconv.Itoa(i), Name: rapid.SampledFrom([]string{"", "Read", "a <b> \"c\""}).Draw(t, "name"), Owner: "acme-shop", Capability: "free/form"}
	for j := range i {
		if rapid.Bool().Draw(t, "after") {
			s.DependsOn = append(s.DependsOn, "s"+strconv.Itoa(j))
		}
	}
	if rapid.Bool().Draw(t, "expects") {
		s.Expectation = &countersign.Expectation{Field: "$", Equals: countersign.RawValue(rapid.SampledFrom([]string{`"ok"`, "1.50", `{"a":[null]}`}).Draw(t, "equals")), StatusCode: rapid.SampledFrom([]int64{0, 201}).Draw(t, "status")}
	}
	if rapid.Bool().Draw(t, "open") {
		return s
	}
	s.Capability, s.Input = "refunds.create", map[string]countersign.Value{}
	texts := map[string][]string{"orderId": {`"o"`, `"1"`, `"two\nlines"`, `" x "`}, "amount": {"1.50", "-0", "1e3"}, "a b": {`{"x":1.0}`}, "fast": {"true", "false"}, "kind": {`"x"`, `"other"`}}
	for _, name := range []string{"orderId", "amount", "a b", "fast", "kind"} {
		switch {
		case len(s.DependsOn) > 0 && rapid.Bool().Draw(t, "bound"):
			if s.Bindings == nil {
				s.Bindings = map[string]countersign.Binding{}
			}
			s.Bindings[name] = countersign.Binding{StepID: rapid.SampledFrom(s.DependsOn).Draw(t, "from"), Field: "a.b"}
		case rapid.Bool().Draw(t, "given"):
			s.Input[name] = countersign.RawValue(rapid.SampledFrom(texts[name]).Draw(t, "value"))
		}
	}
	return s
}

func TestStepsInAFormAreThoseThatWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps []BuiltStep
		for i := range rapid.IntRange(0, 5).Draw(t, "steps") {
			steps = append(steps, drawStep(t, i))
		}
		f := shopSteps(url.Values{})
		if !f.Write(steps) {
			again, wrong := f.Typed()
			t.Fatalf("written %s\nread    %s\n%v", text.RawOf(steps), text.RawOf(again), wrong)
		}
	})
}

func TestWhatAFormCanNotSayIsNoticed(t *testing.T) {
	text := map[string]countersign.Value{"orderId": countersign.String("")}
	for name, steps := range map[string][]BuiltStep{
		"an empty text":             {{ID: "a", Owner: "acme-shop", Capability: "refunds.create", Input: text}},
		"an undeclared input":       {{ID: "a", Owner: "acme-shop", Capability: "refunds.create", Input: map[string]countersign.Value{"else": countersign.String("x")}}},
		"a number for a text":       {{ID: "a", Owner: "acme-shop", Capability: "refunds.create", Input: map[string]countersign.Value{"orderId": countersign.RawValue("1")}}},
		"a capability that is gone": {{ID: "a", Owner: "acme-shop", Capability: "gone"}},
		"a step after a later one":  {{ID: "a", Owner: "acme-shop", Capability: "free/form", DependsOn: []string{"b"}}, {ID: "b", Owner: "acme-shop", Capability: "free/form"}},
		"an ID that is there twice": {{ID: "a", Owner: "acme-shop", Capability: "free/form"}, {ID: "a", Owner: "acme-shop", Capability: "free/form"}},
		"spaces around a name":      {{ID: "a", Name: " a ", Owner: "acme-shop", Capability: "free/form"}},
		"too many steps":            slices.Repeat([]BuiltStep{{ID: "a", Owner: "acme-shop", Capability: "free/form"}}, MaxBuiltSteps+1),
	} {
		if shopSteps(url.Values{}).Write(steps) {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestARemovedRowTakesNoOtherWithIt(t *testing.T) {
	form := url.Values{"name": {"n"}, "steps[0].id": {"a"}, "steps[1].id": {"b"}, "steps[2].id": {"c"}, "steps[10].id": {"k"}, "steps[1].dependsOn": {"x", "y"}, "steps[x].id": {"odd"}, "members[1].role": {"r"}}
	got := WithoutRow(form, "steps", 1)
	want := url.Values{"name": {"n"}, "steps[0].id": {"a"}, "steps[1].id": {"c"}, "steps[9].id": {"k"}, "steps[x].id": {"odd"}, "members[1].role": {"r"}}
	if text.RawOf(got) != text.RawOf(want) {
		t.Errorf("%v", got)
	}
}
