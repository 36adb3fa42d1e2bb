package exactjson

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

type condition = countersign.Condition

func TestVariantIsChosenByKind(t *testing.T) {
	p := decoded[condition](t, `{"kind":"predicate","variableId":"v","operator":"eq","value":1.0}`)
	if p.Group != nil || p.Predicate == nil || p.Predicate.Value.Raw() != "1.0" {
		t.Errorf("got %+v", p)
	}
	g := decoded[condition](t, `{"conditions":[{"operator":"isKnown","variableId":"v","\u006bind":"predicate"}],"combinator":"OR","kind":"gr\u006fup"}`)
	if g.Predicate != nil || g.Group == nil || g.Group.Conditions[0].Predicate.VariableID != "v" {
		t.Errorf("got %+v", g)
	}
}

func TestMissingOrUnknownKindIsAProblem(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                   "kind: is missing; it must be predicate or group",
		`{"operator":"eq"}`:    "kind: is missing; it must be predicate or group",
		`{"kind":"Predicate"}`: "kind: must be predicate or group",
		`{"kind":1}`:           "kind: must be predicate or group, not a number",
		`{"kind":null}`:        "kind: must be predicate or group, not null",
		`[]`:                   "must be an object of kind predicate or group, not an array",
		`{"kind":"group","combinator":"AND","conditions":[{}]}`: "conditions[0].kind: is missing; it must be predicate or group",
	} {
		misfit[condition](t, text, invalidRequest, want)
	}
	misfit[condition](t, `{"Kind":"group"}`, invalidJSON, "Kind: must be spelt kind: upper and lower case differ")
}

func TestFieldsOfTheVariantAreChecked(t *testing.T) {
	misfit[condition](t, `{"kind":"predicate","operator":"like","combinator":"AND","value":[]}`, invalidRequest,
		"operator: must be one of eq, neq, gt, gte, lt, lte, isUnknown, isKnown",
		"combinator: unknown field; known fields are kind, variableId, operator, value",
		"value: must be a string, number, boolean or null, not an array",
		"variableId: is missing; it must be a string")
	misfit[condition](t, `{"kind":"group","combinator":"XOR","conditions":null}`, invalidRequest,
		"combinator: must be one of AND, OR", "conditions: must be an array, not null")
}

func TestConditionsNestAsDeepAsJSON(t *testing.T) {
	const levels = countersign.MaxJSONDepth/2 - 1
	text := strings.Repeat(`{"kind":"group","combinator":"AND","conditions":[`, levels) +
		`{"kind":"predicate","variableId":"v","operator":"eq"}` + strings.Repeat(`]}`, levels)
	c := decoded[condition](t, text)
	n := 0
	for ; c.Group != nil; c = c.Group.Conditions[0] {
		n++
	}
	if n != levels || c.Predicate == nil {
		t.Errorf("%d levels, want %d", n, levels)
	}
}
