package gate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

var (
	paths = []string{"amount", "country", "urgent", "customer", "customer.age", "customer.a.b", "customer.tags.0", "missing"}

	scalars = []string{
		"0", "-0", "1", "1.0", "10e-1", "100", "1e2", "99.99999999999999999999", "100.00000000000000000001", "-5", "9007199254740993", "9007199254740992",
		`"KP"`, `"kp"`, `"1"`, `""`, `"true"`, "true", "false",
	}
	values = append([]string{"null", `{}`, `[]`, `{"age":20}`, `{"age":"20"}`, `{"age":null,"a.b":1}`, `{"a":{"b":1}}`, `{"a":{"b":1},"a.b":1.0}`, `{"a":{"b":1},"a.b":2}`, `{"tags":["KP"]}`, `{"tags":{"0":"kp"}}`,
		`{"age":20,"Age":20.0}`, `{"age":20,"AGE":21}`, `{"AGE":20}`, `{"a":{"b":1,"B":2}}`, `{"a":{"B":1}}`, `{"a":{"b":1},"A.B":1}`, `{"tagſ":["KP"]}`, `{"tags":["KP"],"taGs":["KP"]}`}, scalars...)
)

func drawCondition(t *rapid.T, depth int) countersign.Condition {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "shape") > 0 {
		p := countersign.Predicate{Kind: "predicate", VariableID: rapid.SampledFrom(paths).Draw(t, "path"),
			Operator: rapid.SampledFrom([]string{"eq", "neq", "gt", "gte", "lt", "lte", "isKnown", "isUnknown"}).Draw(t, "operator")}
		p.Value = countersign.Scalar{Value: countersign.RawValue(rapid.SampledFrom(scalars).Draw(t, "value"))}
		return countersign.Condition{Predicate: &p}
	}
	g := countersign.ConditionGroup{Kind: "group", Combinator: rapid.SampledFrom([]string{"AND", "OR"}).Draw(t, "combinator")}
	for range rapid.IntRange(0, 3).Draw(t, "parts") {
		g.Conditions = append(g.Conditions, drawCondition(t, depth-1))
	}
	return countersign.Condition{Group: &g}
}

func drawCapability(t *rapid.T) *countersign.Capability {
	c := &countersign.Capability{Name: "refund", Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(t, "method"), Path: "/refunds",
		Approval: rapid.SampledFrom([]string{"", "NONE", "RISK_BASED", "ALWAYS"}).Draw(t, "approval"), Idempotent: rapid.Bool().Draw(t, "idempotent")}
	for range rapid.IntRange(0, 4).Draw(t, "rules") {
		c.ApprovalRules = append(c.ApprovalRules, countersign.ApprovalRule{
			When: drawCondition(t, 2), Then: rapid.SampledFrom([]string{"ALLOW", "ASK", "DENY"}).Draw(t, "then"),
			Approvals: rapid.Int64Range(0, 5).Draw(t, "approvals"), Groups: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"finance", "legal", "board"}), 0, 2, rapid.ID).Draw(t, "groups"),
			Reason: "because",
		})
	}
	return c
}

func drawInput(t *rapid.T) string {
	var members []string
	for _, name := range []string{"amount", "country", "urgent", "customer", "customer.age", "Amount", "CUSTOMER", "cuſtomer.age"} {
		some := append([]string{""}, values...)
		if name != strings.ToLower(name) || strings.Contains(name, "ſ") {
			some = append(make([]string, 2*len(values)), values...) // seldom
		}
		if v := rapid.SampledFrom(some).Draw(t, name); v != "" {
			members = append(members, `"`+name+`":`+v)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func decoded(t interface{ Fatal(args ...any) }, text string) (input map[string]countersign.Value) {
	if err := json.Unmarshal([]byte(text), &input); err != nil {
		t.Fatal(err)
	}
	return input
}

func TestTheGateSaysWhatAPlainReadingOfTheRulesSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, input := drawCapability(t), drawInput(t)
		e := rapid.SampledFrom([]gate.Edition{gate.First, gate.Now}).Draw(t, "edition")
		then, approvals, groups := expected(e, c, input)
		v := gate.Judge(nil, e, c, decoded(t, input), nil)
		if v.Then != then || v.Approvals != approvals || !slices.Equal(v.Groups, groups) {
			t.Fatalf("%s: %s, %d of %v; want %s, %d of %v", input, v.Then, v.Approvals, v.Groups, then, approvals, groups)
		}
	})
}

// What isn't known never loosens: taking an input away, or leaving it open, never turns a
// request that was asked for or denied into one that is let out.
func TestWhatIsNotKnownNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, input := drawCapability(t), decoded(t, drawInput(t))
		whole := gate.Judge(nil, gate.Now, c, input, nil)
		for name := range input {
			open := gate.Judge(nil, gate.Now, c, input, map[string]countersign.Binding{name: {}})
			if open.Then == countersign.RuleAllow && whole.Then != countersign.RuleAllow {
				t.Fatalf("open %s: let out, though it is %s", name, whole.Then)
			}
		}
	})
}

// No plan of before is let out by the edition that came after it, and a request that some
// receivers read otherwise than others is let out by no rule that compares what differs.
func TestALaterEditionNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, text := drawCapability(t), drawInput(t)
		input := decoded(t, text)
		before, now := gate.Judge(nil, gate.First, c, input, nil), gate.Judge(nil, gate.Now, c, input, nil)
		if now.Then == countersign.RuleAllow && before.Then != countersign.RuleAllow {
			t.Fatalf("%s was %s, and is let out", text, before.Then)
		}
	})
}

// The order of rules is nothing.
func TestTheOrderOfRulesIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, input := drawCapability(t), decoded(t, drawInput(t))
		v := gate.Judge(nil, gate.Now, c, input, nil)
		slices.Reverse(c.ApprovalRules)
		w := gate.Judge(nil, gate.Now, c, input, nil)
		if v.Then != w.Then || v.Approvals != w.Approvals || !slices.Equal(v.Groups, w.Groups) {
			t.Fatalf("%+v, reversed %+v", v, w)
		}
	})
}

// drawnOnce reports inputs without a member that stands there in another case as well.
func drawnOnce(input map[string]countersign.Value) bool {
	text := countersign.ObjectValue(input).Raw()
	for _, name := range []string{"Amount", "CUSTOMER", "Age", "AGE", "B", "ſ", "taGs"} {
		if strings.Contains(text, name) {
			return false
		}
	}
	return true
}

// A finding's witness shows what it says, and an edit that weakens nothing is nowhere weaker.
func TestFindingsAndComparisonsClaimWhatTheGateDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCapability(t)
		for _, f := range gate.Findings(nil, &countersign.Project{Capabilities: []countersign.Capability{*c}}) {
			if f.Code == "rule_changes_nothing" {
				without, at := *c, -1
				if _, err := fmt.Sscanf(f.Path, "capabilities[0].approvalRules[%d]", &at); err != nil {
					t.Fatal(err)
				}
				without.ApprovalRules = slices.Delete(slices.Clone(c.ApprovalRules), at, at+1)
				if v := gate.Judge(nil, gate.Now, &without, decoded(t, f.Witness.Raw()), nil); v.Then != countersign.RuleAllow && len(without.ApprovalRules) > 0 {
					t.Fatalf("%s: without it %s", f, v.Then)
				}
			}
			if f.Code == "number_unbounded" || f.Code == "range_unasked" {
				if v := gate.Judge(nil, gate.Now, c, decoded(t, f.Witness.Raw()), nil); v.Then != countersign.RuleAllow {
					t.Fatalf("%s is %s", f, v.Then)
				}
			}
		}
		now, input := drawCapability(t), decoded(t, drawInput(t))
		severity := map[string]int{"ALLOW": 1, "ASK": 2, "DENY": 3}
		was, is := gate.Judge(nil, gate.Now, c, input, nil), gate.Judge(nil, gate.Now, now, input, nil)
		clear := drawnOnce(input) && !strings.Contains(countersign.ObjectValue(input).Raw(), `a.b`) && !strings.Contains(countersign.ObjectValue(input).Raw(), `customer.age`)
		if clear && severity[is.Then] < severity[was.Then] && !gate.Weaker(nil, c, now) {
			t.Fatalf("for %v it was %s and is %s, and the edit weakens nothing", input, was.Then, is.Then)
		}
	})
}
