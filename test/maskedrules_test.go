package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAViewerIsNotToldWhatRulesCompareASensitiveInputWith: the value of a rule that held is the input's.
func TestAViewerIsNotToldWhatRulesCompareASensitiveInputWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nested := doc{"kind": "group", "combinator": "AND", "conditions": []any{is("pin", "eq", "4712"), is("amount", "gte", number("1"))}}
	capability := harness.Capability("pay", "POST", "/pay", doc{
		"inputSchema": doc{"amount": harness.Input("number", true), "pin": harness.Input("string", true), "secret": harness.Input("number", false)}, "sensitive": []string{"pin", "secret"},
		"approval": "NONE", "budgets": []any{doc{"sum": "secret", "most": 4713, "window": "1h", "then": "DENY", "reason": "enough"}},
		"approvalRules": []any{rule(is("pin", "eq", "4711"), "DENY"), rule(nested, "ASK"), rule(is("amount", "gt", number("815")), "ASK")},
	})
	w.register(t, ruled, harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{capability}))
	told := func(c *harness.Client) string {
		text := ""
		for _, path := range []string{"/projects/" + ruled, "/projects"} {
			text += c.Get(path).OK(t).String()
		}
		return text + c.Post("/projects/"+ruled+"/validate", nil).OK(t).String()
	}
	whole, masked := told(w.operator), told(w.viewer)
	for _, value := range []string{"4711", "4712", "4713"} {
		if !strings.Contains(whole, value) || strings.Contains(masked, value) {
			t.Errorf("%s: an OPERATOR is told %v, a VIEWER %v", value, strings.Contains(whole, value), strings.Contains(masked, value))
		}
	}
	if !strings.Contains(masked, "815") {
		t.Error("what compares no sensitive input is masked, too")
	}
}
