package rules

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The approval rules of a capability as a form: for each some comparisons, of which all or
// any must hold, and what it does then. A condition that doesn't fit in is kept as it is.

// RuleRow is one rule as the form has it.
type RuleRow struct {
	N      int
	Was    string // the number of the stored rule, "" of a new one
	Kept   string // its condition in words where comparisons can't show it
	Any    bool   // any comparison is enough
	Parts  []rulePart
	Then   string // "" for no rule
	Reason string

	Approvals, Groups, After, To string
}

// rulePart is one comparison.
type rulePart struct {
	N                      int
	Input, Operator, Value string
}

const (
	spareParts = 2
	maxParts   = 20
)

// Field is the name of a field of the rule.
func (r RuleRow) Field(what string) string { return "rule" + strconv.Itoa(r.N) + what }

// Part is the name of a field of one of its comparisons.
func (r RuleRow) Part(n int, what string) string { return r.Field(what + strconv.Itoa(n)) }

// Title names the rule among the others.
func (r RuleRow) Title() string { return "Rule " + strconv.Itoa(r.N+1) }

// Answers are what a rule can do.
func (RuleRow) Answers() []form.Choice {
	return []form.Choice{{Value: "", Word: "no rule"}, {Value: countersign.RuleAllow, Word: "send without approval"}, {Value: countersign.RuleAsk, Word: "ask for approval"}, {Value: countersign.RuleDeny, Word: "deny"}}
}

// Operators are how an input compares.
func (RuleRow) Operators() []form.Choice {
	return []form.Choice{
		{Value: countersign.OpEqual, Word: "is"}, {Value: countersign.OpNotEqual, Word: "is not"}, {Value: countersign.OpGreater, Word: "is more than"}, {Value: countersign.OpGreaterOrEqual, Word: "is at least"},
		{Value: countersign.OpLess, Word: "is less than"}, {Value: countersign.OpLessOrEqual, Word: "is at most"}, {Value: countersign.OpIsKnown, Word: "is given"}, {Value: countersign.OpIsUnknown, Word: "is not given"},
	}
}

// RuleRows are the stored or typed rules, followed by an empty one.
func RuleRows(v *web.Request, c countersign.Capability) []RuleRow {
	var rows []RuleRow
	if v.R.Method == http.MethodPost {
		rows = typedRuleRows(v, c)
	} else {
		for i := range c.ApprovalRules {
			rows = append(rows, ruleRowOf(&c, i))
		}
	}
	rows = append(rows, RuleRow{})
	for i := range rows {
		rows[i].N = i
		for range spareParts {
			rows[i].Parts = append(rows[i].Parts, rulePart{})
		}
		for j := range rows[i].Parts {
			rows[i].Parts[j].N = j
		}
	}
	return rows
}

func ruleRowOf(c *countersign.Capability, i int) RuleRow {
	r := c.ApprovalRules[i]
	row := RuleRow{Was: strconv.Itoa(i), Then: r.Then, Reason: r.Reason, Groups: strings.Join(r.Groups, ", ")}
	if r.Approvals > 0 {
		row.Approvals = strconv.FormatInt(r.Approvals, 10)
	}
	if r.Escalate != nil {
		row.After, row.To = r.Escalate.After, strings.Join(r.Escalate.Groups, ", ")
	}
	parts, either, flat := comparisonsOf(r.When)
	if !flat {
		row.Kept = text.ConditionWords(r.When)
		return row
	}
	row.Any = either
	for _, p := range parts {
		row.Parts = append(row.Parts, rulePart{Input: p.VariableID, Operator: p.Operator, Value: shownConstant(c, p)})
	}
	return row
}

// comparisonsOf are the predicates of a condition that is one, or a group of nothing else
// and of no more than the form has places for.
func comparisonsOf(c countersign.Condition) (parts []*countersign.Predicate, either, flat bool) {
	if c.Group == nil {
		return []*countersign.Predicate{c.Predicate}, false, c.Predicate != nil
	}
	for i := range c.Group.Conditions {
		if c.Group.Conditions[i].Predicate == nil {
			return nil, false, false
		}
		parts = append(parts, c.Group.Conditions[i].Predicate)
	}
	return parts, c.Group.Combinator == countersign.CombinatorOr, len(parts) > 0 && len(parts) <= maxParts
}

// shownConstant is a constant as it is typed: text without quotes, unless it would be read
// as something else.
func shownConstant(c *countersign.Capability, p *countersign.Predicate) string {
	if p.Value.Kind() != countersign.KindString {
		return strings.TrimSpace(p.Value.Raw())
	}
	if again, err := typedConstant(c, p.VariableID, p.Value.Text()); err == nil && again.Equal(p.Value.Value) {
		return p.Value.Text()
	}
	return p.Value.Raw()
}

// typedConstant reads a constant: text for an input of type string, else a number, true,
// false or text in quotes, and where the type is open any other text as it is.
func typedConstant(c *countersign.Capability, input, text string) (countersign.Value, error) {
	types, _ := request.TypesOf(c, input)
	if slices.Equal(types, []string{"string"}) {
		return countersign.String(text), nil
	}
	var v countersign.Value
	err := exactjson.Decode([]byte(text), &v)
	switch kind := v.Kind(); {
	case err == nil && (kind == countersign.KindNumber || kind == countersign.KindBoolean || kind == countersign.KindString):
		return v, nil
	case len(types) > 0:
		return v, web.Invalid("approvalRules", "%s is compared with %q, which is no %s", input, text, strings.Join(types, " or "))
	}
	return countersign.String(text), nil
}

// typedRuleRows are the form's rules that say anything.
func typedRuleRows(v *web.Request, c countersign.Capability) (rows []RuleRow) {
	for n := range countersign.MaxApprovalRules + 1 {
		r := RuleRow{N: n}
		r.Was, r.Any, r.Then, r.Reason = v.Form(r.Field("was")), v.Form(r.Field("any")) != "", v.Form(r.Field("then")), v.Form(r.Field("reason"))
		r.Approvals, r.Groups, r.After, r.To = v.Form(r.Field("approvals")), v.Form(r.Field("groups")), v.Form(r.Field("after")), v.Form(r.Field("to"))
		for m := range maxParts {
			p := rulePart{m, v.Form(r.Part(m, "input")), v.Form(r.Part(m, "operator")), v.Form(r.Part(m, "value"))}
			if p.Input != "" || p.Value != "" {
				r.Parts = append(r.Parts, p)
			}
		}
		if at, ok := storedRule(c, r.Was); ok && len(r.Parts) == 0 {
			if _, _, flat := comparisonsOf(at.When); !flat {
				r.Kept = text.ConditionWords(at.When)
			}
		}
		if r.Then != "" || r.Reason != "" || len(r.Parts) > 0 || r.Was != "" {
			rows = append(rows, r)
		}
	}
	return rows
}

func storedRule(c countersign.Capability, was string) (r countersign.ApprovalRule, ok bool) {
	i, err := strconv.Atoi(was)
	if err != nil || i < 0 || i >= len(c.ApprovalRules) {
		return r, false
	}
	return c.ApprovalRules[i], true
}

// TypedRules reads the rules of the form. What the form doesn't have stays as it is.
func TypedRules(v *web.Request, c countersign.Capability) ([]countersign.ApprovalRule, error) {
	if _, shown := v.R.PostForm["rule0then"]; !shown {
		return c.ApprovalRules, nil
	}
	var out []countersign.ApprovalRule
	var wrong error
	for _, row := range typedRuleRows(v, c) {
		if row.Then == "" {
			if row.Was == "" {
				wrong = web.Together(wrong, web.Invalid("approvalRules", "%s says nothing that it does", row.Title()))
			}
			continue
		}
		r, err := row.rule(c)
		out, wrong = append(out, r), web.Together(wrong, err)
	}
	return out, wrong
}

func (r RuleRow) rule(c countersign.Capability) (out countersign.ApprovalRule, err error) {
	out = countersign.ApprovalRule{Then: r.Then, Reason: r.Reason, Groups: form.Names(r.Groups)}
	if r.After != "" || r.To != "" {
		out.Escalate = &countersign.Escalate{After: r.After, Groups: form.Names(r.To)}
	}
	if r.Approvals != "" {
		if out.Approvals, err = strconv.ParseInt(r.Approvals, 10, 64); err != nil || out.Approvals < 1 || out.Approvals > countersign.MaxApprovals {
			err = web.Invalid("approvalRules", "%s: approvals must be 1 to %d", r.Title(), countersign.MaxApprovals)
		}
	}
	if stored, ok := storedRule(c, r.Was); ok && r.Kept != "" {
		out.When = stored.When
		return out, err
	}
	when, unread := r.when(&c)
	out.When = when
	return out, web.Together(err, unread)
}

// when is the rule's condition: of one comparison that one, of several a group.
func (r RuleRow) when(c *countersign.Capability) (out countersign.Condition, err error) {
	var parts []countersign.Condition
	for _, p := range r.Parts {
		made := &countersign.Predicate{Kind: "predicate", VariableID: p.Input, Operator: p.Operator}
		if p.Operator != countersign.OpIsKnown && p.Operator != countersign.OpIsUnknown {
			value, unread := typedConstant(c, p.Input, p.Value)
			made.Value, err = countersign.Scalar{Value: value}, web.Together(err, unread)
		}
		parts = append(parts, countersign.Condition{Predicate: made})
	}
	combinator := countersign.CombinatorAnd
	if r.Any {
		combinator = countersign.CombinatorOr
	}
	switch {
	case len(parts) == 0:
		return out, web.Invalid("approvalRules", "%s compares nothing", r.Title())
	case len(parts) == 1:
		return parts[0], err
	}
	return countersign.Condition{Group: &countersign.ConditionGroup{Kind: "group", Combinator: combinator, Conditions: parts}}, err
}
