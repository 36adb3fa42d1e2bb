package receipt

import (
	"encoding/json"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// The approvals of a step are those that the rules of its capability ask for, over the
// inputs that it sent.

// verdict is what the gate says of a step. known is false where masking hides inputs that
// the rules compare.
func (c *claims) verdict(s node) (v gate.Verdict, known bool) {
	capability := c.capability(s)
	if len(capability.at("approvalRules").list()) == 0 || !s.at("request").exists() {
		return c.byApproval(capability), true // it has no rules, or didn't come to the gate
	}
	if c.hides(s) || c.redacted() {
		return c.byApproval(capability), false
	}
	input := map[string]countersign.Value{}
	for name, value := range s.at("input").members() {
		input[name] = node{value}.value()
	}
	open := map[string]countersign.Binding{}
	if !c.live() {
		for name := range c.planned(s).at("inputBindings").members() {
			open[name] = countersign.Binding{}
		}
	}
	return gate.Judge(nil, c.edition(), c.rulesOf(capability), input, open), true
}

// edition is the one by which the plan says that its rules are judged.
func (c *claims) edition() gate.Edition { return gate.Edition(max(0, c.plan.at("gate").whole())) }

func (c *claims) byApproval(capability node) gate.Verdict {
	if c.asksApproval(capability) {
		return gate.Verdict{Then: countersign.RuleAsk, Approvals: 1}
	}
	return gate.Verdict{Then: countersign.RuleAllow}
}

// rulesOf gives what the gate goes by. Members are read by their exact names, and one that
// is no rule's reads as nothing, so that every verifier comes to the same.
func (c *claims) rulesOf(capability node) *countersign.Capability {
	out := &countersign.Capability{Approval: countersign.ApprovalNone}
	if c.asksApproval(capability) {
		out.Approval = countersign.ApprovalAlways
	}
	for _, r := range capability.at("approvalRules").list() {
		out.ApprovalRules = append(out.ApprovalRules, countersign.ApprovalRule{
			When: condition(r.at("when")), Then: r.at("then").text(), Approvals: r.at("approvals").whole(), Groups: texts(r.at("groups")),
		})
	}
	return out
}

func condition(n node) countersign.Condition {
	if n.at("kind").text() != "group" {
		return countersign.Condition{Predicate: &countersign.Predicate{
			VariableID: n.at("variableId").text(), Operator: n.at("operator").text(), Value: countersign.Scalar{Value: n.at("value").value()},
		}}
	}
	g := &countersign.ConditionGroup{Combinator: n.at("combinator").text()}
	for _, part := range n.at("conditions").list() {
		g.Conditions = append(g.Conditions, condition(part))
	}
	return countersign.Condition{Group: g}
}

// value is the node as JSON; what is missing is null.
func (n node) value() countersign.Value {
	text, err := json.Marshal(n.v)
	if err != nil {
		return countersign.Null
	}
	return countersign.RawValue(string(text))
}

// mayAllow reports a capability with a rule that lets requests out.
func mayAllow(capability node) bool {
	return slices.ContainsFunc(capability.at("approvalRules").list(), func(r node) bool { return r.at("then").text() == countersign.RuleAllow })
}

// asJudged compares a step with what the rules say of its inputs.
func (c *claims) asJudged(s node) string {
	v, known := c.verdict(s)
	code := s.at("error").at("code").text()
	denied, byBudget := code == string(countersign.CodeDeniedByRule), code == string(countersign.CodeDeniedByBudget)
	required := s.at("approvalRequired").isTrue()
	switch wouldBe := s.at("wouldBe").text(); {
	case byBudget && (required || !c.live() || s.at("attempt").whole() > 0 || !mayHaveBudget(s, c.capability(s))):
		return "was denied by a budget that it has not, or was sent"
	case !known, byBudget && v.Then != countersign.RuleDeny:
		return ""
	case required != v.Asks() && (v.Then != countersign.RuleAllow || !mayHaveBudget(s, c.capability(s))):
		return "has another approvalRequired than its capability"
	case wouldBe != "" && (c.live() || wouldBe != v.WouldBe()):
		return "has another wouldBe than its capability's rules"
	case c.live() && denied != (v.Then == countersign.RuleDeny):
		return "was denied by a rule that does not deny it, or was not denied by one that does"
	case c.live() && denied && s.at("attempt").whole() > 0:
		return "was sent, though a rule denies it"
	}
	return ""
}

// asksFor compares what an approval asks for with what the rules of its step say.
func (c *claims) asksFor(a node) string {
	s := c.byID[a.at("stepId").text()]
	v, known := c.verdict(s)
	same := a.at("requestDigest").text() != "" && a.at("requestDigest").text() == s.at("requestDigest").text()
	if !known || !same || v.Then == countersign.RuleDeny {
		return ""
	}
	if v.Then == countersign.RuleAllow {
		v.Approvals = 1 // a budget asks for one
	}
	if needed(a) != v.Approvals || !slices.Equal(texts(a.at("groups")), v.Groups) {
		return "asks for other approvals than the rules of its capability"
	}
	return ""
}

// ofOlder reports an approval of an earlier release, which one decided.
func ofOlder(a node) bool {
	return !a.has("approvalsNeeded") && !a.has("groups") && !a.has("decisions")
}

// needed is how many must approve; earlier releases, which asked for one, don't say so.
func needed(a node) int {
	if !a.has("approvalsNeeded") {
		return 1
	}
	return int(a.at("approvalsNeeded").whole())
}

func texts(n node) (out []string) {
	for _, v := range n.list() {
		out = append(out, v.text())
	}
	return out
}

// checkDecisions compares the decisions of an approval with what became of it.
func checkDecisions(a node) string {
	given := a.at("decisions").list()
	if len(given) == 0 {
		if !ofOlder(a) {
			return "lacks its decisions"
		}
		return ""
	}
	if !a.has("approvalsNeeded") {
		return "doesn't say how many must approve"
	}
	by := map[string]bool{}
	for i, d := range given {
		last := i == len(given)-1
		switch {
		case d.at("by").text() == "" || by[d.at("by").text()]:
			return "was decided twice by one, or by nobody"
		case d.at("at").moment() == "" || i > 0 && d.at("at").before(given[i-1].at("at")):
			return "has decisions that are not in the order of their times"
		case !last && d.at("decision").text() != string(countersign.ApprovalApproved):
			return "was decided again after a rejection"
		case !among(texts(d.at("groups")), texts(a.at("groups"))):
			return "was decided for groups that it doesn't name"
		case d.has("assertion") && a.at("requestDigest").text() == "":
			return "has a signature, but not the digest that it signs"
		case last && !isLast(d, a):
			return "was last decided otherwise than its decisions say"
		}
		by[d.at("by").text()] = !d.at("left").isTrue() // who gave one that doesn't count may decide again
	}
	return ""
}

// among reports names that are all in a list, in its order and each once.
func among(names, all []string) bool {
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

// isLast reports the decision that an approval names as its own.
func isLast(d, a node) bool {
	return d.at("decision").text() == a.at("status").text() && d.at("by").text() == a.at("decidedBy").text() &&
		d.at("reason").text() == a.at("decisionReason").text() && d.at("at").moment() == a.at("decidedAt").moment()
}

// enough reports an approval that as many have given as it asks for, each of them for one
// of its groups, and each group by somebody.
func enough(a node) bool {
	given := a.at("decisions").list()
	if len(given) == 0 {
		return ofOlder(a)
	}
	var approved []gate.Decider
	for _, d := range given {
		if d.at("decision").text() == string(countersign.ApprovalApproved) && !d.at("left").isTrue() && d.at("by").text() != countersign.SystemPrincipal {
			approved = append(approved, gate.Decider{Groups: texts(d.at("groups"))})
		}
	}
	return gate.Enough(needed(a), texts(a.at("groups")), approved)
}

// checkEarlier finds the record of each decision before the last, in the log's order.
func (c *claims) checkEarlier(a node) string {
	given, from := a.at("decisions").list(), 0
	for _, d := range given[:max(0, len(given)-1)] {
		found := false
		for i := from; i < len(c.proven) && !found; i++ {
			p := c.proven[i]
			if p.says("approvals.decide", a.at("stepId").text(), a.at("requestDigest").text()) && p.at("after").text() == string(countersign.ApprovalPending) &&
				p.at("actor").text() == d.at("by").text() && c.saysReason(p, d.at("reason").text()) && p.at("at").moment() == d.at("at").moment() &&
				sameAssertion(p.node, d) {
				from, found = i+1, true
			}
		}
		if !found {
			return "the log does not say that approval " + a.at("id").text() + " was approved by " + d.at("by").text() + " so"
		}
	}
	if last, ok := c.decidedBy[a.at("id").text()]; ok && from > last {
		return "the log does not say that approval " + a.at("id").text() + " was decided in this order"
	}
	return ""
}
