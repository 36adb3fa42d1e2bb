package gate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// capability reads a capability whose rules are given as JSON.
func capability(t *testing.T, approval, rules string) *countersign.Capability {
	t.Helper()
	c := &countersign.Capability{Name: "refund", Method: "POST", Path: "/refunds", Approval: approval, InputSchema: map[string]countersign.InputField{
		"amount": {Type: "number", Required: true}, "country": {Type: "string"}, "urgent": {Type: "boolean"}, "customer": {Type: "object"}, "tags": {Type: "array"},
	}}
	if err := json.Unmarshal([]byte(rules), &c.ApprovalRules); err != nil {
		t.Fatal(err)
	}
	return c
}

func is(variable, operator, value string) string {
	return `{"kind":"predicate","variableId":"` + variable + `","operator":"` + operator + `","value":` + value + `}`
}

func rule(when, then, rest string) string {
	return `{"when":` + when + `,"then":"` + then + `","reason":"` + then + ` it"` + rest + `}`
}

func TestTheSeverestOfTheRulesThatHoldWins(t *testing.T) {
	rules := "[" + strings.Join([]string{
		rule(is("amount", "lte", "100"), "ALLOW", ""),
		rule(is("country", "neq", `"DE"`), "ASK", `,"approvals":2,"groups":["legal"]`),
		rule(is("urgent", "eq", "true"), "ASK", `,"groups":["finance"]`),
		rule(is("customer.blocked", "eq", "true"), "DENY", ""),
	}, ",") + "]"
	for _, c := range []struct {
		input, then string
		approvals   int
		groups      []string
	}{
		{`{"amount":100,"country":"DE","urgent":false,"customer":{"blocked":false}}`, "ALLOW", 0, nil},
		{`{"amount":100.00000000000000000001,"country":"DE","urgent":false,"customer":{"blocked":false}}`, "ASK", 1, nil},
		{`{"amount":1,"country":"FR","urgent":false,"customer":{"blocked":false}}`, "ASK", 2, []string{"legal"}},
		{`{"amount":1,"country":"FR","urgent":true,"customer":{"blocked":false}}`, "ASK", 2, []string{"finance", "legal"}},
		{`{"amount":1,"country":"FR","urgent":true,"customer":{"blocked":true}}`, "DENY", 0, nil},
		{`{"amount":1,"country":"DE","urgent":false,"customer":{}}`, "ASK", 1, nil},
		{`{"amount":1,"country":"DE","urgent":false,"customer":{"blocked":"true"}}`, "ASK", 1, nil},
		{`{"amount":1,"urgent":false,"customer":{"blocked":false}}`, "ASK", 2, []string{"legal"}},
	} {
		v := gate.Judge(nil, gate.Now, capability(t, "RISK_BASED", rules), decoded(t, c.input), nil)
		if v.Then != c.then || v.Approvals != c.approvals || !slices.Equal(v.Groups, c.groups) {
			t.Errorf("%s: %s, %d of %v; want %s, %d of %v", c.input, v.Then, v.Approvals, v.Groups, c.then, c.approvals, c.groups)
		}
	}
}

// Whoever wrote rules thinks that what none of them names is asked for; idempotent says that
// it may be repeated, not that nobody need look. Plans of before keep what they meant.
func TestBesideRulesRiskBasedAsksForEverySideEffect(t *testing.T) {
	small := rule(is("amount", "lte", "50"), "ALLOW", "")
	for _, c := range []struct {
		method, approval, rules string
		now, before             string
	}{
		{"POST", "RISK_BASED", "[" + small + "]", "ASK", "ALLOW"},
		{"PUT", "RISK_BASED", "[" + small + "]", "ASK", "ALLOW"},
		{"DELETE", "RISK_BASED", "[" + small + "]", "ASK", "ASK"},
		{"GET", "RISK_BASED", "[" + small + "]", "ALLOW", "ALLOW"},
		{"POST", "NONE", "[" + small + "]", "ALLOW", "ALLOW"},
		{"POST", "ALWAYS", "[" + rule(is("amount", "gt", "1000"), "DENY", "") + "]", "ASK", "ASK"},
		{"POST", "RISK_BASED", "[]", "ALLOW", "ALLOW"},
	} {
		capability := capability(t, c.approval, c.rules)
		capability.Method, capability.Idempotent = c.method, true
		for edition, want := range map[gate.Edition]string{gate.Now: c.now, gate.First: c.before} {
			if v := gate.Judge(nil, edition, capability, decoded(t, `{"amount":300}`), nil); v.Then != want || len(v.Rules) > 0 {
				t.Errorf("%s, %s, edition %d: %s by %v, want %s", c.method, c.approval, edition, v.Then, v.Rules, want)
			}
		}
	}
}

// A receiver may read `a.b` as a name or as a path; who writes both with different values
// must not choose which of them the rules see.
func TestAPathThatCanBeReadTwoWaysIsUnknown(t *testing.T) {
	c := capability(t, "NONE", "["+rule(is("customer.limit.daily", "gt", "10"), "DENY", "")+"]")
	for input, then := range map[string]string{
		`{"customer":{"limit":{"daily":11}}}`:                                "DENY",
		`{"customer":{"limit.daily":11}}`:                                    "DENY",
		`{"customer":{"limit.daily":1,"limit":{"daily":1.0}}}`:               "ALLOW",
		`{"customer":{"limit.daily":1,"limit":{"daily":11}}}`:                "ASK",
		`{"customer":{"limit.daily":null,"limit":{"daily":11}}}`:             "ASK",
		`{"customer.limit.daily":1,"customer":{"limit":{"daily":11}}}`:       "ASK",
		`{"customer":{"limit":{"daily":5}},"customer.limit":{"daily":5}}`:    "ALLOW",
		`{"customer":{"limit":{"daily":5}},"customer.limit":{"daily":"11"}}`: "ASK",
	} {
		if v := gate.Judge(nil, gate.Now, c, decoded(t, input), nil); v.Then != then {
			t.Errorf("%s: %s, want %s", input, v.Then, then)
		}
	}
}

func TestRulesThatCanMeanNothingAreRefused(t *testing.T) {
	for rules, want := range map[string]string{
		rule(is("amuont", "gt", "1"), "ASK", ""):                                                 "approvalRules[0].when.variableId",
		rule(is("amount.cents", "gt", "1"), "ASK", ""):                                           "approvalRules[0].when.variableId",
		rule(is("", "gt", "1"), "ASK", ""):                                                       "approvalRules[0].when.variableId",
		rule(is("amount", "gt", `"1"`), "ASK", ""):                                               "approvalRules[0].when.value",
		rule(is("country", "gt", "1"), "ASK", ""):                                                "approvalRules[0].when.value",
		rule(is("country", "eq", "1"), "ASK", ""):                                                "approvalRules[0].when.value",
		rule(is("customer", "eq", `"x"`), "ASK", ""):                                             "approvalRules[0].when.value",
		rule(is("amount", "eq", "null"), "ASK", ""):                                              "approvalRules[0].when.value",
		rule(is("amount", "about", "1"), "ASK", ""):                                              "approvalRules[0].when.operator",
		rule(is("amount", "gt", "1"), "MAYBE", ""):                                               "approvalRules[0].then",
		rule(is("amount", "gt", "1"), "ASK", `,"approvals":6`):                                   "approvalRules[0].approvals",
		rule(is("amount", "gt", "1"), "ASK", `,"groups":["a","a"]`):                              "approvalRules[0].groups[1]",
		strings.Replace(rule(is("amount", "gt", "1"), "ASK", ""), "ASK it", " \u200b", 1):        "approvalRules[0].reason",
		`{"when":{"kind":"group","combinator":"XOR","conditions":[]},"then":"ASK","reason":"r"}`: "approvalRules[0].when.combinator",
	} {
		problems := gate.Check(nil, capability(t, "RISK_BASED", "["+rules+"]"))
		if len(problems) != 1 || problems[0].Path != want {
			t.Errorf("%s: %v, want one problem at %s", rules, problems, want)
		}
	}
	for _, fine := range []string{is("customer.country", "eq", `"KP"`), is("tags.0", "eq", `"x"`), is("customer", "isKnown", "null"), `{"kind":"predicate","variableId":"amount","operator":"isUnknown"}`} {
		if problems := gate.Check(nil, capability(t, "RISK_BASED", "["+rule(fine, "ALLOW", "")+"]")); len(problems) > 0 {
			t.Errorf("%s: %v", fine, problems)
		}
	}
	for approval, refused := range map[string]bool{"": true, "ALWAYS": true, "RISK_BASED": false, "NONE": false} {
		if problems := gate.Check(nil, capability(t, approval, "["+rule(is("amount", "lt", "1"), "ALLOW", "")+"]")); (len(problems) > 0) != refused {
			t.Errorf("ALLOW beside approval %q: %v", approval, problems)
		}
	}
}

func TestEnoughHaveApprovedWhenAllCountAndEachGroupHasDecided(t *testing.T) {
	in := func(groups ...string) gate.Decider { return gate.Decider{Groups: groups} }
	for _, c := range []struct {
		needed   int
		groups   []string
		approved []gate.Decider
		enough   bool
	}{
		{1, nil, nil, false},
		{1, nil, []gate.Decider{in()}, true},
		{2, nil, []gate.Decider{in()}, false},
		{2, nil, []gate.Decider{in(), in()}, true},
		{1, []string{"finance"}, []gate.Decider{in()}, false}, // who has left it counts no more
		{1, []string{"finance"}, []gate.Decider{in("finance")}, true},
		{1, []string{"finance", "legal"}, []gate.Decider{in("finance")}, false},
		{1, []string{"finance", "legal"}, []gate.Decider{in("finance"), in("finance")}, false},
		{1, []string{"finance", "legal"}, []gate.Decider{in("finance", "legal")}, true},
		{2, []string{"finance", "legal"}, []gate.Decider{in("finance", "legal")}, false},
		{2, []string{"finance", "legal"}, []gate.Decider{in("legal"), in("finance")}, true},
		{2, []string{"finance"}, []gate.Decider{in("board"), in("finance")}, false},
	} {
		if enough := gate.Enough(c.needed, c.groups, c.approved); enough != c.enough {
			t.Errorf("%d of %v, approved by %v: %v", c.needed, c.groups, c.approved, enough)
		}
	}
}

func TestFindingsShowContradictionsAndGaps(t *testing.T) {
	and := func(parts ...string) string {
		return `{"kind":"group","combinator":"AND","conditions":[` + strings.Join(parts, ",") + `]}`
	}
	for _, c := range []struct {
		name, approval string
		rules          []string
		want           []string // codes, with their witnesses
	}{
		{"an ALLOW inside a DENY", "RISK_BASED", []string{rule(and(is("amount", "gte", "0"), is("amount", "lte", "100")), "ALLOW", ""), rule(and(is("amount", "gte", "0"), is("amount", "lte", "500")), "DENY", "")},
			[]string{`rule_never_decides {"amount":0}`}},
		{"one bound of a number", "RISK_BASED", []string{rule(is("amount", "lte", "100"), "ALLOW", "")}, []string{`number_unbounded {"amount":-1}`}},
		{"both bounds of a number", "RISK_BASED", []string{rule(and(is("amount", "gt", "0"), is("amount", "lte", "100")), "ALLOW", "")}, nil},
		{"a limit where nothing else asks", "NONE", []string{rule(is("amount", "gt", "1000"), "DENY", "")}, []string{`number_unbounded {"amount":-1}`}},
		{"a limit where all else is asked for", "ALWAYS", []string{rule(is("amount", "gt", "1000"), "DENY", "")}, nil},
		{"what can't be", "ALWAYS", []string{rule(and(is("amount", "gt", "5"), is("amount", "lt", "5")), "DENY", "")}, []string{"rule_never_holds "}},
		{"a gap between an ALLOW and an ASK", "NONE", []string{rule(and(is("amount", "gte", "0"), is("amount", "lte", "50")), "ALLOW", ""), rule(is("amount", "gt", "1000"), "ASK", ""), rule(is("amount", "lt", "0"), "DENY", "")},
			[]string{`rule_changes_nothing {"amount":0}`, `range_unasked {"amount":100}`}},
		{"the same where approval asks for it", "RISK_BASED", []string{rule(and(is("amount", "gte", "0"), is("amount", "lte", "50")), "ALLOW", ""), rule(is("amount", "gt", "1000"), "ASK", ""), rule(is("amount", "lt", "0"), "DENY", "")}, nil},
		{"a gap between two that ask", "NONE", []string{rule(and(is("amount", "gte", "100"), is("amount", "lte", "500")), "ASK", ""), rule(is("amount", "gt", "1000"), "ASK", "")},
			[]string{`number_unbounded {"amount":-1}`, `range_unasked {"amount":600}`}},
		{"a range that two rules fence", "NONE", []string{rule(is("amount", "lt", "0"), "DENY", ""), rule(is("amount", "gt", "1000"), "ASK", "")}, nil},
		{"an ALLOW where all goes out", "NONE", []string{rule(is("country", "eq", `"DE"`), "ALLOW", "")}, []string{`rule_changes_nothing {"country":"DE"}`}},
		{"an ALLOW within another", "RISK_BASED", []string{rule(is("country", "isKnown", "null"), "ALLOW", ""), rule(is("country", "eq", `"DE"`), "ALLOW", "")}, []string{`rule_changes_nothing {"country":"DE"}`}},
		{"rules that stand beside each other", "RISK_BASED", []string{rule(is("country", "eq", `"KP"`), "DENY", ""), rule(is("urgent", "eq", "true"), "ASK", "")}, nil},
	} {
		found := gate.Findings(nil, &countersign.Project{Capabilities: []countersign.Capability{*capability(t, c.approval, "["+strings.Join(c.rules, ",")+"]")}})
		var got []string
		for _, f := range found {
			got = append(got, f.Code+" "+f.Witness.Raw())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAnInputsOwnBoundClosesTheOtherEndOfARule(t *testing.T) {
	number := countersign.RawValue
	atMost, atLeast := rule(is("amount", "lte", "100"), "ALLOW", ""), rule(is("amount", "gte", "100"), "ALLOW", "")
	for _, c := range []struct {
		name, rule string
		field      countersign.InputField
		open       bool
	}{
		{"no bound", atMost, countersign.InputField{}, true},
		{"the lower end closed", atMost, countersign.InputField{Minimum: number("0")}, false},
		{"the lower end closed far below", atMost, countersign.InputField{Minimum: number("-1e9")}, false},
		{"only the upper end closed", atMost, countersign.InputField{Maximum: number("1000")}, true},
		{"the upper end closed", atLeast, countersign.InputField{Maximum: number("1e3")}, false},
		{"only the lower end closed", atLeast, countersign.InputField{Minimum: number("0")}, true},
		{"values listed", atMost, countersign.InputField{Enum: []countersign.Value{number("10")}}, false},
	} {
		capability := capability(t, "RISK_BASED", "["+c.rule+"]")
		c.field.Type = "number"
		capability.InputSchema["amount"] = c.field
		found := gate.Findings(nil, &countersign.Project{Capabilities: []countersign.Capability{*capability}})
		if (len(found) == 1 && found[0].Code == "number_unbounded") != c.open || len(found) > 1 {
			t.Errorf("%s: %v", c.name, found)
		}
	}
	// The bound of an input says nothing of what is read from within another one.
	deeper := capability(t, "RISK_BASED", "["+rule(is("customer.amount", "lte", "100"), "ALLOW", "")+"]")
	deeper.InputSchema["customer.amount"] = countersign.InputField{Type: "number", Minimum: number("0")}
	if found := gate.Findings(nil, &countersign.Project{Capabilities: []countersign.Capability{*deeper}}); len(found) != 1 {
		t.Errorf("a path within an object: %v", found)
	}
}

func TestWhatWeakensRules(t *testing.T) {
	deny, ask, allow := rule(is("amount", "gt", "1000"), "DENY", ""), rule(is("amount", "gt", "100"), "ASK", `,"approvals":2,"groups":["finance"]`), rule(is("amount", "lt", "10"), "ALLOW", "")
	escalate := func(after, groups string) string {
		return strings.Replace(ask, `"groups"`, `"escalate":{"after":"`+after+`","groups":["`+groups+`"]},"groups"`, 1)
	}
	for _, c := range []struct {
		name, was, now string
		weaker         bool
	}{
		{"nothing", deny + "," + ask, deny + "," + ask, false},
		{"other words", deny, strings.Replace(deny, "DENY it", "too much", 1), false},
		{"another order", deny + "," + ask, ask + "," + deny, false},
		{"a rule removed", deny + "," + ask, deny, true},
		{"a rule added", deny, deny + "," + ask, false},
		{"an ALLOW added", deny, deny + "," + allow, true},
		{"an ALLOW removed", deny + "," + allow, deny, false},
		{"an ALLOW widened", allow, strings.Replace(allow, "10", "11", 1), true},
		{"an ALLOW narrowed", allow, strings.Replace(allow, "10", "9", 1), false},
		{"a DENY narrowed", deny, strings.Replace(deny, "1000", "1001", 1), true},
		{"a DENY widened", deny, strings.Replace(deny, "1000", "999", 1), false},
		{"a DENY that asks", deny, strings.Replace(deny, `"DENY"`, `"ASK"`, 1), true},
		{"fewer approvals", ask, strings.Replace(ask, ":2", ":1", 1), true},
		{"more approvals", ask, strings.Replace(ask, ":2", ":3", 1), false},
		{"another group", ask, strings.Replace(ask, "finance", "legal", 1), true},
		{"an escalation added", ask, escalate("4h", "board"), true},
		{"an escalation removed", escalate("4h", "board"), ask, false},
		{"an earlier escalation", escalate("4h", "board"), escalate("3h59m", "board"), true},
		{"a later escalation", escalate("4h", "board"), escalate("5h", "board"), false},
		{"an escalation to more", escalate("4h", "board"), escalate("4h", `board","legal`), true},
		{"an escalation to fewer", escalate("4h", `board","legal`), escalate("4h", "legal"), false},
		{"a group that escalates, where everybody decided", strings.Replace(ask, `"finance"`, ``, 1), escalate("4h", "board"), false},
		{"no group", ask, strings.Replace(ask, `"finance"`, ``, 1), true},
	} {
		if weaker := gate.Weaker(nil, capability(t, "RISK_BASED", "["+c.was+"]"), capability(t, "RISK_BASED", "["+c.now+"]")); weaker != c.weaker {
			t.Errorf("%s: %v", c.name, weaker)
		}
	}
}

// TestWitnessesAreCounted: what shows a finding is judged, and fitted to the inputs' patterns, with
// the meter; where it has come to its end, nothing is claimed.
func TestWitnessesAreCounted(t *testing.T) {
	and := func(all ...string) string {
		return `{"kind":"group","combinator":"AND","conditions":[` + strings.Join(all, ",") + `]}`
	}
	long := `"` + strings.Repeat("ab", 4000) + `"`
	c := capability(t, "NONE", "["+rule(and(is("amount", "gte", "0"), is("amount", "lte", "50"), is("country", "eq", long)), "ALLOW", "")+","+rule(is("amount", "gt", "1000"), "ASK", "")+","+rule(is("amount", "lt", "0"), "DENY", "")+"]")
	c.InputSchema["country"] = countersign.InputField{Type: "string", Pattern: "[ab]{0,900}$"}
	p := &countersign.Project{Capabilities: []countersign.Capability{*c}}
	m := cost.New(t.Context(), cost.Most, 0)
	all := gate.Findings(m, p)
	if m.Over() || slices.ContainsFunc(all, func(f countersign.Problem) bool { return f.Code == "not_examined" }) {
		t.Fatalf("with enough steps: %v, %v", m.Err(), all)
	}
	if m.Spent() < 1800*8000 {
		t.Errorf("the pattern of a witness was matched, and %d steps were counted", m.Spent())
	}
	found := gate.Findings(cost.New(t.Context(), m.Spent()-1, 0), p)
	if len(found) != 1 || found[0].Code != "not_examined" {
		t.Errorf("with too few: %v", found)
	}
}
