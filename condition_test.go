package countersign_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign"
)

func TestConditionIsWrittenAsItWasRead(t *testing.T) {
	for _, text := range []string{
		`{"kind":"predicate","variableId":"v","operator":"isKnown"}`,
		`{"kind":"predicate","variableId":"v","operator":"eq","value":null}`,
		`{"kind":"predicate","variableId":"v","operator":"gte","value":9007199254740993.0}`,
		`{"kind":"group","combinator":"AND","conditions":[]}`,
		`{"kind":"group","combinator":"OR","conditions":[{"kind":"group","combinator":"AND","conditions":[{"kind":"predicate","variableId":"<&>","operator":"eq","value":"<&>"}]}]}`,
	} {
		var c countersign.Condition
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if got, err := countersign.Marshal(c); err != nil || string(got) != text {
			t.Errorf("got %s, want %s (%v)", got, text, err)
		}
	}
}

func TestConditionIsOneOfItsVariants(t *testing.T) {
	var c countersign.Condition
	if err := json.Unmarshal([]byte(`{"kind":"predicate","variableId":"v","operator":"eq"}`), &c); err != nil || c.Predicate == nil || c.Group != nil {
		t.Errorf("%+v %v", c, err)
	}
	for _, kind := range []string{"", "Predicate", "GROUP", "other"} {
		if got := new(countersign.Condition).Variant(kind); got != nil {
			t.Errorf("%q is %T", kind, got)
		}
	}
	err := json.Unmarshal([]byte(`{"kind":"other"}`), &c)
	if countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		t.Errorf("got %v", err)
	}
}
