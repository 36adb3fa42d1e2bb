package console

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// The approval rules of a capability in words, on every page that asks.

// shownRule is a rule in words.
type shownRule struct {
	When, Then, Reason string
	Class, Icon        string
}

func rulesOf(c *countersign.Capability) []shownRule {
	if c == nil {
		return nil
	}
	out := make([]shownRule, len(c.ApprovalRules))
	for i, r := range c.ApprovalRules {
		out[i] = shownRule{When: conditionWords(r.When), Then: answerWords(r), Reason: r.Reason, Class: "is-wait", Icon: "s-waiting"}
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

// judge asks the gate about a step with a known capability. What takes more than the page's
// meter has steps for counts as asking.
func (s *planStep) judge(m *cost.Meter) {
	if s.Contract == nil {
		return
	}
	s.gate = gate.Judge(m, s.by, s.Contract, s.Input, s.InputBindings)
	if m.Over() {
		s.gate = gate.Verdict{Then: countersign.RuleAsk, Approvals: 1, Rules: []int{0}, Reasons: []string{"its rules take too long to be asked for this page"}}
	}
}

// gateWords say what the gate says of a step that isn't sent yet.
func (s *planStep) gateWords() string {
	if s.Contract == nil || len(s.Contract.ApprovalRules) == 0 {
		return askingWords(s.Contract)
	}
	switch v := s.gate; {
	case v.Then == countersign.RuleDeny:
		return "a rule denies it: " + strings.Join(v.Reasons, "; ")
	case v.Asks() && len(v.Rules) > 0:
		return "asks for approval (" + strings.Join(v.Reasons, "; ") + ")"
	case v.Asks():
		return "asks for approval"
	}
	return "is sent without approval, by its rules"
}
