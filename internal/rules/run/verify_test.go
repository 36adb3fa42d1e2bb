package run_test

import (
	"reflect"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
)

func TestVerificationComparesExactly(t *testing.T) {
	const passed, failed = countersign.VerificationPassed, countersign.VerificationFailed
	tests := []struct {
		name, output, outputField, field, equals, want string
	}{
		{"numbers by value", `{"n":1.0}`, "", "n", `1`, passed},
		{"numbers by value, exponent", `{"n":100e-2}`, "", "n", `1`, passed},
		{"neighbours beyond 2^53", `{"n":9007199254740993}`, "", "n", `9007199254740992`, failed},
		{"a text is no number", `{"n":"1"}`, "", "n", `1`, failed},
		{"false is not 0", `{"n":false}`, "", "n", `0`, failed},
		{"null is a value", `{"n":null}`, "", "n", `null`, passed},
		{"missing is not null", `{}`, "", "n", `null`, failed},
		{"arrays are ordered", `{"n":[1,2]}`, "", "n", `[2,1]`, failed},
		{"objects are not", `{"n":{"a":1,"b":2}}`, "", "n", `{"b":2.0,"a":1}`, passed},
		{"whole equality", `{"n":{"a":1,"b":2}}`, "", "n", `{"a":1}`, failed},
		{"a dotted path", `{"a":{"b":[{"c":3}]}}`, "", "a.b.0.c", `3`, passed},
		{"an exact key first", `{"a.b":1,"a":{"b":2}}`, "", "a.b", `1`, passed},
		{"the whole output", `[1]`, "", "$", `[1]`, passed},
		{"the whole output by its name", `"done"`, "state", "state", `"done"`, passed},
		{"another name is not the output", `"done"`, "state", "status", `"done"`, failed},
		{"an empty answer is null", `null`, "", "$", `null`, passed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := plan.Output{Value: countersign.RawValue(test.output), OutputField: test.outputField}
			e := &countersign.Expectation{Field: test.field, Equals: countersign.RawValue(test.equals)}
			if v := run.Verify(e, out, 200); v.Status != test.want {
				t.Errorf("%s", dumped(v))
			}
		})
	}
}

func TestVerificationJudgesTheStatusOfAnAnswerOnly(t *testing.T) {
	e := &countersign.Expectation{Field: "$", Equals: countersign.RawValue("1"), StatusCode: 201}
	for status, want := range map[int]string{
		201: countersign.VerificationPassed, 200: countersign.VerificationFailed,
		0: countersign.VerificationPassed, // a reconcile: no answer, no status
	} {
		if v := run.Verify(e, plan.Output{Value: countersign.RawValue("1.0")}, status); v.Status != want {
			t.Errorf("with status %d: %s, want %s", status, dumped(v), want)
		}
	}
}

func TestNothingAskedIsNotVerified(t *testing.T) {
	v := run.Verify(nil, plan.Output{Value: countersign.Null}, 200)
	if !reflect.DeepEqual(v, countersign.Verification{Status: countersign.VerificationNotRequested}) {
		t.Errorf("%s", dumped(v))
	}
}

// TestAllExpectationsMustHold: the capability's and the step's own.
func TestAllExpectationsMustHold(t *testing.T) {
	ok := countersign.Expectation{Field: "ok", Equals: countersign.Bool(true)}
	five := countersign.Expectation{Field: "n", Equals: countersign.Int(5)}
	for _, test := range []struct {
		name, output, status, field string
		es                          []countersign.Expectation
	}{
		{"none", `{}`, countersign.VerificationNotRequested, "", nil},
		{"one, met", `{"ok":true}`, countersign.VerificationPassed, "ok", []countersign.Expectation{ok}},
		{"both met", `{"ok":true,"n":5.0}`, countersign.VerificationPassed, "n", []countersign.Expectation{ok, five}},
		{"the capability's not met", `{"ok":false,"n":5}`, countersign.VerificationFailed, "ok", []countersign.Expectation{ok, five}},
		{"the step's own not met", `{"ok":true}`, countersign.VerificationFailed, "n", []countersign.Expectation{ok, five}},
		{"neither met", `{}`, countersign.VerificationFailed, "ok", []countersign.Expectation{ok, five}},
	} {
		v, why := run.Judge(test.es, plan.Output{Value: countersign.RawValue(test.output)}, 200)
		if v.Status != test.status || v.Field != test.field || (why != "") != (test.status == countersign.VerificationFailed) {
			t.Errorf("%s: %s, %q", test.name, dumped(v), why)
		}
		if len(test.es) == 2 && len(v.Checks) != 2 || len(test.es) < 2 && v.Checks != nil {
			t.Errorf("%s: checks %s", test.name, dumped(v.Checks))
		}
	}
}
