package test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestA2xxIsJudgedByItsBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		reply  harness.Reply
		output any
	}{
		"empty":                  {harness.Raw("HTTP/1.1 204 No Content\r\n\r\n"), nil},
		"empty 200":              {harness.Answering(200, ""), nil},
		"null":                   {harness.Answering(200, "null"), nil},
		"a number":               {harness.Answering(202, "12345678901234567890.50"), number("12345678901234567890.50")},
		"JSON called text":       {harness.Typed(200, "text/plain", ` {"a":[1,"x",null]} `), doc{"a": []any{1, "x", nil}}},
		"chunked":                {harness.Raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n0\r\n\r\n"), doc{"a": 1}},
		"until the end of input": {harness.Cutting("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":1}"), doc{"a": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			w.shop.On("POST", "/notes", c.reply)
			w.reaches(t, w.run(t, step("n", "note", nil)), "COMPLETED").Is(t, "steps.0.output", c.output).Is(t, "unverifiedSteps", 1)
		})
	}
}

func TestAnExpectationHoldsOnTheSelectedOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, c := range []struct {
		capability, answer, field string
		equals                    any
		passes                    bool
	}{
		{"note", `{"a":{"b":[10,{"c":true}]}}`, "a.b.1.c", true, true},
		{"note", `{"a.b":1,"a":{"b":2}}`, "a.b", 1, true}, // an exact key first
		{"note", `{"n":1}`, "n", number("1.0"), true},
		{"note", `{"n":1.50e1}`, "n", 15, true},
		{"note", `{"n":9007199254740993}`, "n", number("9007199254740992"), false},
		{"note", `{"n":"1"}`, "n", 1, false},
		{"note", `{"n":null}`, "n", nil, true},
		{"note", `{}`, "n", nil, false}, // null is not missing
		{"note", `{"o":{"x":1,"y":[1,2]}}`, "o", doc{"y": []any{1, 2}, "x": 1}, true},
		{"note", `{"l":[1,2]}`, "l", []any{2, 1}, false},
		{"note", `{"a":1}`, "$", doc{"a": 1}, true},
		{"note", `[1,2]`, "$", []any{1, 2}, true},
		{"note", `[1,2]`, "1", 2, true},
		{"note", `"x"`, "$", "x", true},
		{"note", `{"a":1}`, "b", 1, false},
		{"count", `{"result":7}`, "result", 7, true},
		{"count", `{"result":7}`, "$", 7, true},
		{"count", `{"result":{"n":7}}`, "n", 7, true},
		{"count", `{"result":{"n":7}}`, "result", doc{"n": 7}, true},
		{"count", `{"result":{"result":8}}`, "result", 8, true},
		{"count", `{"result":[{"n":7}]}`, "0.n", 7, true},
		{"count", `{"result":null}`, "result", nil, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w.shop.On("POST", map[string]string{"note": "/notes", "count": "/count"}[c.capability], harness.Answering(200, c.answer))
			id := w.run(t, expecting(step("s", c.capability, nil), c.field, c.equals))
			if c.passes {
				w.reaches(t, id, "COMPLETED").Is(t, "steps.0.verification.status", "PASSED").Is(t, "unverifiedSteps", 0)
				return
			}
			run := w.reaches(t, id, "FAILED").Has(t, "error", "expectation_not_met: ").Is(t, "steps.0.verification.status", "FAILED").Is(t, "steps.0.verification.field", c.field)
			run.Is(t, "steps.0.verification.expected", c.equals).Is(t, "steps.0.status", "FAILED").Is(t, "steps.0.error.code", "expectation_not_met")
		})
	}
}

func TestAnotherStatusCodeThanExpectedFailsTheStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/notes", harness.Answering(202, `{"a":1}`))
	run := w.reaches(t, w.run(t, harness.With(expecting(step("s", "note", nil), "a", 1), "expectation.statusCode", 200)), "FAILED")
	run.Has(t, "error", "expectation_not_met: ", "202", "200").Is(t, "steps.0.verification.status", "FAILED").Is(t, "steps.0.response.statusCode", 202).Is(t, "steps.0.output", doc{"a": 1})
}

func TestAMissingOutputFieldFailsTheStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, answer := range []string{`{}`, `{"other":1}`, `[]`, `"result"`, ``} {
		w.shop.On("POST", "/count", harness.Answering(200, answer))
		w.reaches(t, w.run(t, step("s", "count", nil)), "FAILED").Has(t, "error", "output_missing: ", "result").Is(t, "steps.0.error.code", "output_missing")
	}
}
