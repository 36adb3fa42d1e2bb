package gate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// TestARuleThatCanMeanNothingIsRefusedInWords reads each message.
func TestARuleThatCanMeanNothingIsRefusedInWords(t *testing.T) {
	over := is("amount", "gt", "1")
	names := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("g%d", i)
		}
		text, _ := json.Marshal(list)
		return string(text)
	}
	many := strings.Repeat(rule(over, "ASK", "")+",", countersign.MaxApprovalRules) + rule(over, "ASK", "")
	for _, test := range []struct{ approval, rules, want string }{
		{"RISK_BASED", many, fmt.Sprintf("approvalRules: %d rules are too many; at most %d", countersign.MaxApprovalRules+1, countersign.MaxApprovalRules)},
		{"RISK_BASED", rule(over, "MAYBE", ""), "approvalRules[0].then: must be one of ALLOW, ASK, DENY"},
		{"", rule(over, "ALLOW", ""), "approvalRules[0].then: ALLOW can't stand beside approval ALWAYS, which is also the default of a side effect; set approval to RISK_BASED, or let the rule ASK"},
		{"", rule(over, "ASK", `,"approvals":6`), "approvalRules[0].approvals: must be 1 to 5"},
		{"", rule(over, "ASK", `,"groups":`+names(countersign.MaxRuleGroups+1)), fmt.Sprintf("approvalRules[0].groups: %d groups are too many; at most %d", countersign.MaxRuleGroups+1, countersign.MaxRuleGroups)},
		{"", rule(over, "ASK", `,"groups":["legal","legal"]`), "approvalRules[0].groups[1]: legal is named already"},
		{"", strings.Replace(rule(over, "ASK", ""), "ASK it", " ", 1), "approvalRules[0].reason: say why; it can't be blank"},
		{"", strings.Replace(rule(over, "ASK", ""), "ASK it", strings.Repeat("x", 1001), 1), "approvalRules[0].reason: must not be longer than 1000 bytes"},
		{"", rule(over, "ASK", `,"escalate":{"after":"4h","groups":["legal"]}`), "approvalRules[0].escalate: it belongs to groups: without them every approver may decide at once"},
		{"", rule(over, "ASK", `,"groups":["legal"],"escalate":{"after":"soon","groups":["finance"]}`), "approvalRules[0].escalate.after: must be a duration of 1s to 720h, such as 4h"},
		{"", rule(over, "ASK", `,"groups":["legal"],"escalate":{"after":"4h","groups":[]}`), fmt.Sprintf("approvalRules[0].escalate.groups: must name 1 to %d groups", countersign.MaxRuleGroups)},
		{"", rule(over, "ASK", `,"groups":["legal"],"escalate":{"after":"4h","groups":["legal"]}`), "approvalRules[0].escalate.groups[0]: legal is named already"},
		{"", rule(`{"kind":"group","combinator":"XOR","conditions":[]}`, "ASK", ""), "approvalRules[0].when.combinator: must be AND or OR"},
		{"", rule(is("amuont", "gt", "1"), "ASK", ""), `approvalRules[0].when.variableId: "amuont" names no input of the capability; a dotted path leads into an object or array`},
		{"", rule(is("amount", "about", "1"), "ASK", ""), "approvalRules[0].when.operator: must be one of eq, neq, gt, gte, lt, lte, isUnknown, isKnown"},
		{"", rule(is("amount", "eq", "null"), "ASK", ""), "approvalRules[0].when.value: eq needs a value other than null; isUnknown asks whether there is none"},
		{"", rule(is("amount", "gt", `"1"`), "ASK", ""), "approvalRules[0].when.value: gt compares numbers, and this is a string; use eq or neq"},
		{"", rule(is("country", "eq", "1"), "ASK", ""), "approvalRules[0].when.value: country is declared as string, and this is a number"},
	} {
		got := gate.Check(nil, capability(t, test.approval, "["+test.rules+"]"))
		if len(got) != 1 || got[0].Path+": "+got[0].Message != test.want {
			t.Errorf("%.200s: %v\nnot %s", test.rules, got, test.want)
		}
	}
	several := capability(t, "", "["+rule(is("customer.name", "eq", `"x"`), "ASK", "")+"]")
	several.InputSchema["customer"] = countersign.InputField{Type: "string", OrTypes: []string{"object"}}
	if got := gate.Check(nil, several); len(got) != 1 || got[0].String() != "approvalRules[0].when.variableId: customer is string or object, and a dotted path leads only into an input of one type" {
		t.Errorf("a path into several types: %v", got)
	}
	neither := capability(t, "", "[]")
	neither.ApprovalRules = []countersign.ApprovalRule{{Then: countersign.RuleAsk, Reason: "r"}}
	if got := gate.Check(nil, neither); len(got) != 1 || got[0].String() != "approvalRules[0].when: a condition is exactly one of predicate and group" {
		t.Errorf("a condition of nothing: %v", got)
	}
}

// TestFindingsSayWhatTheRulesLetOut reads each finding.
func TestFindingsSayWhatTheRulesLetOut(t *testing.T) {
	never := `{"kind":"group","combinator":"AND","conditions":[` + is("amount", "gt", "5") + "," + is("amount", "lt", "5") + "]}"
	var wide []string
	for i := range 20 {
		for _, name := range []string{"amount", "customer.a", "customer.b", "customer.c", "customer.d"} {
			wide = append(wide, is(name, "eq", fmt.Sprint(i)))
		}
	}
	for _, test := range []struct{ approval, rules, want string }{
		{"ALWAYS", rule(never, "DENY", ""), "capabilities[0].approvalRules[0]: no inputs make its condition true"},
		{"RISK_BASED", rule(is("amount", "lte", "100"), "ALLOW", ""), `capabilities[0].approvalRules[0].when: amount has a bound at its upper end and none at its lower end: {"amount":-1} is let out, ALLOW by approvalRules[0]; add the other bound`},
		{"NONE", rule(is("country", "eq", `"DE"`), "ALLOW", ""), `capabilities[0].approvalRules[0]: without this ALLOW the same is let out: {"country":"DE"}, by approval NONE; remove it, or have approval ask for what no rule names`},
		{"RISK_BASED", rule(is("country", "isKnown", "null"), "ALLOW", "") + "," + rule(is("country", "eq", `"DE"`), "ALLOW", ""), `capabilities[0].approvalRules[1]: without this ALLOW the same is let out: {"country":"DE"}, by approvalRules[0]; remove it, or have approval ask for what no rule names`},
		{"NONE", rule(is("amount", "eq", "5"), "ASK", "") + "," + rule(is("amount", "eq", "7"), "DENY", ""), `capabilities[0].approvalRules[0].when: a range of amount between the rules goes out with nobody asked: {"amount":6}, ALLOW by approval NONE; name it in a rule, or have approval ask for what no rule names`},
		{"ALWAYS", rule(`{"kind":"group","combinator":"OR","conditions":[`+strings.Join(wide, ",")+"]}", "DENY", ""), "capabilities[0].approvalRules: the rules distinguish too many cases to examine; compare fewer inputs, or each with fewer values"},
	} {
		got := gate.Findings(nil, &countersign.Project{Capabilities: []countersign.Capability{*capability(t, test.approval, "["+test.rules+"]")}})
		if len(got) != 1 || got[0].Path+": "+got[0].Message != test.want {
			t.Errorf("%.200s: %v\nnot %s", test.rules, got, test.want)
		}
	}
}
