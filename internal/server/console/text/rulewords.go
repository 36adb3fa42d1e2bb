package text

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// The approval rules of a capability in words, on every page that asks.

// ShownRule is a rule in words.
type ShownRule struct {
	When, Then, Reason string
	Class, Icon        string
}

// RulesOf are the rules of a capability, nil for none.
func RulesOf(c *countersign.Capability) []ShownRule {
	if c == nil {
		return nil
	}
	out := make([]ShownRule, len(c.ApprovalRules))
	for i, r := range c.ApprovalRules {
		out[i] = ShownRule{When: ConditionWords(r.When), Then: answerWords(r), Reason: r.Reason, Class: "is-wait", Icon: "s-waiting"}
		switch r.Then {
		case countersign.RuleAllow:
			out[i].Class, out[i].Icon = "is-idle", "i-check"
		case countersign.RuleDeny:
			out[i].Class, out[i].Icon = "is-fail", "s-failed"
		}
	}
	return out
}

// answerWords say what a rule answers: asks for 2 approvals, by finance and legal.
func answerWords(r countersign.ApprovalRule) string {
	switch r.Then {
	case countersign.RuleAllow:
		return "is sent without approval"
	case countersign.RuleDeny:
		return "is denied"
	}
	text := "asks" + demandWords(int(r.Approvals), r.Groups)
	if r.Escalate != nil {
		text += "; after " + r.Escalate.After + " members of " + strings.Join(r.Escalate.Groups, " and ") + " may decide, too"
	}
	return text
}

// demandWords say how many must approve, and of which groups; "" for anybody once.
func demandWords(approvals int, groups []string) string {
	text := ""
	if approvals > 1 {
		text = " for " + strconv.Itoa(approvals) + " approvals"
	}
	if len(groups) > 0 {
		text += ", by members of " + strings.Join(groups, " and ")
	}
	return text
}

// AskingWords say whether a step of the capability asks for approval.
func AskingWords(c *countersign.Capability) string {
	switch {
	case c == nil:
		return ""
	case len(c.ApprovalRules) > 0:
		return "asks by its rules"
	case c.NeedsApproval():
		return "asks for approval"
	case c.HasSideEffect():
		return "changes something without asking"
	}
	return "reads"
}

// Wants are expectations in words, "" for none.
func Wants(es []countersign.Expectation) string {
	var texts []string
	for _, e := range es {
		text := e.Field + " is " + Inline(e.Equals)
		if e.StatusCode != 0 {
			text += ", HTTP " + strconv.FormatInt(e.StatusCode, 10)
		}
		if !slices.Contains(texts, text) { // the step and its capability may expect the same
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}
