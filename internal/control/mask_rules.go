package control

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// judgesHidden reports that a rule of the capability compares a sensitive input: which rule
// holds then tells something of its value.
func (h *fieldMask) judgesHidden() bool {
	return h.whole || h.capability == nil || slices.ContainsFunc(h.capability.ApprovalRules, h.judged)
}

// judged reports a rule that compares a sensitive input.
func (h *fieldMask) judged(r countersign.ApprovalRule) (found bool) {
	gate.EachPredicate(&r.When, func(p *countersign.Predicate) { found = found || h.hidesPath(p.VariableID) })
	return found
}

// rules masks what rules compare sensitive inputs with, and the reasons of such rules.
func (h *fieldMask) rules(rules []countersign.ApprovalRule) []countersign.ApprovalRule {
	if !slices.ContainsFunc(rules, h.judged) {
		return rules
	}
	rules = slices.Clone(rules)
	for i := range rules {
		if h.judged(rules[i]) {
			rules[i].When, rules[i].Reason = h.condition(rules[i].When), masked.Text()
		}
	}
	return rules
}

// condition is a copy, since the stored one is shared.
func (h *fieldMask) condition(c countersign.Condition) countersign.Condition {
	if c.Predicate != nil {
		p := *c.Predicate
		if h.hidesPath(p.VariableID) && !p.Value.IsZero() {
			p.Value = countersign.Scalar{Value: masked}
		}
		c.Predicate = &p
	}
	if c.Group != nil {
		g := *c.Group
		g.Conditions = slices.Clone(g.Conditions)
		for i := range g.Conditions {
			g.Conditions[i] = h.condition(g.Conditions[i])
		}
		c.Group = &g
	}
	return c
}

// budgets masks the most that sensitive inputs may come to.
func (h *fieldMask) budgets(budgets []countersign.Budget) []countersign.Budget {
	budgets = slices.Clone(budgets)
	for i := range budgets {
		if b := &budgets[i]; b.Sum != "" && h.hidesPath(b.Sum) {
			b.Most = masked
		}
	}
	return budgets
}

// tellsNothing is a project without the rules over sensitive inputs, for what is found in rules
// quotes their values.
func tellsNothing(p countersign.Project) countersign.Project {
	p.Capabilities = slices.Clone(p.Capabilities)
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		h := &fieldMask{project: &p, capability: c, names: namesOf(sensitiveOf(&p, c))}
		if h.judgesHidden() {
			c.ApprovalRules = nil
		}
	}
	return p
}
