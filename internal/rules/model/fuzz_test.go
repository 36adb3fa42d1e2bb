package model_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
)

// FuzzConditionJSON: whatever decodes as a condition is validated, and without
// errors it compiles, is simulated and explored.
func FuzzConditionJSON(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"predicate","variableId":"n","operator":"gt","value":1.5e3}`,
		`{"kind":"predicate","variableId":"c","operator":"eq","value":"red"}`,
		`{"kind":"predicate","variableId":"b","operator":"neq","value":null}`,
		`{"kind":"predicate","variableId":"t","operator":"isKnown"}`,
		`{"kind":"group","combinator":"AND","conditions":[]}`,
		`{"kind":"group","combinator":"OR","conditions":[{"kind":"predicate","variableId":"n","operator":"isUnknown"},{"kind":"group","combinator":"AND","conditions":[]}]}`,
		`{"kind":"group","combinator":"XOR","conditions":[null]}`,
		`{"kind":"predicate","variableId":"t","operator":"eq","value":[1,{"a":2}]}`,
		`{"kind":"group"}`, `null`, `[]`, `{"kind":"other"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c countersign.Condition
		if json.Unmarshal(b, &c) != nil {
			return
		}
		doc := choosing(c, input("n", "number", raw("1500")), input("c", "choice", text("red"), "red", "green"),
			memory("b", "boolean", null), input("t", "text", text("")))
		valid := model.Validate(doc).Valid
		m, err := model.Compile(doc)
		if valid != (err == nil) {
			t.Fatalf("valid: %v, Compile: %v", valid, err)
		}
		if err != nil {
			return
		}
		if _, err := m.Simulate("s", given{"n": null}); err != nil {
			t.Fatalf("Simulate: %v", err)
		}
		model.Explore(m, 1000)
	})
}
