package mask

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// judgesHidden reports that a rule of the capability compares a sensitive input: which rule
// holds then tells something of its value.
func (f *Fields) judgesHidden() bool {
	return f.whole || f.capability == nil || slices.ContainsFunc(f.capability.ApprovalRules, f.judged)
}

// judged reports a rule that compares a sensitive input.
func (f *Fields) judged(r countersign.ApprovalRule) (found bool) {
	gate.EachPredicate(&r.When, func(p *countersign.Predicate) { found = found || f.hidesPath(p.VariableID) })
	return found
}

// rules masks what rules compare sensitive inputs with, and the reasons of such rules.
func (f *Fields) rules(rules []countersign.ApprovalRule) []countersign.ApprovalRule {
	if !slices.ContainsFunc(rules, f.judged) {
		return rules
	}
	rules = slices.Clone(rules)
	for i := range rules {
		if f.judged(rules[i]) {
			rules[i].When, rules[i].Reason = f.condition(rules[i].When), masked.Text()
		}
	}
	return rules
}

// condition is a copy, since the stored one is shared.
func (f *Fields) condition(c countersign.Condition) countersign.Condition {
	if c.Predicate != nil {
		p := *c.Predicate
		if f.hidesPath(p.VariableID) && !p.Value.IsZero() {
			p.Value = countersign.Scalar{Value: masked}
		}
		c.Predicate = &p
	}
	if c.Group != nil {
		g := *c.Group
		g.Conditions = slices.Clone(g.Conditions)
		for i := range g.Conditions {
			g.Conditions[i] = f.condition(g.Conditions[i])
		}
		c.Group = &g
	}
	return c
}

// adds reports a budget that adds the values of a sensitive input.
func (f *Fields) adds(b countersign.Budget) bool { return b.Sum != "" && f.hidesPath(b.Sum) }

// addsHidden reports that a budget that concerns a step may add a sensitive input: which one
// it exceeds then tells something of its value. Budgets of an agent are of no plan, and may
// have been other ones at the time, so any sensitive input may be one that they add.
func (f *Fields) addsHidden() bool {
	if f.whole || f.capability == nil || slices.ContainsFunc(f.capability.Budgets, f.adds) {
		return true
	}
	for name := range f.capability.InputSchema {
		if f.agent != "" && f.hides(name) {
			return true
		}
	}
	return false
}

// budgets masks the most that sensitive inputs may come to, and the reasons of such budgets.
func (f *Fields) budgets(budgets []countersign.Budget) []countersign.Budget {
	return maskBudgets(budgets, f.adds)
}

func maskBudgets(budgets []countersign.Budget, hidden func(countersign.Budget) bool) []countersign.Budget {
	budgets = slices.Clone(budgets)
	for i := range budgets {
		if b := &budgets[i]; hidden(*b) {
			b.Most, b.Reason = masked, masked.Text()
		}
	}
	return budgets
}

// TellsNothing is a project without the rules and budgets over sensitive inputs, for what is
// found in them quotes their values.
func TellsNothing(p countersign.Project) countersign.Project {
	p.Capabilities = slices.Clone(p.Capabilities)
	for i := range p.Capabilities {
		c := &p.Capabilities[i]
		h := &Fields{project: &p, capability: c, names: namesOf(sensitiveOf(&p, c))}
		if h.judgesHidden() {
			c.ApprovalRules = nil
		}
		if h.addsHidden() {
			c.Budgets = nil
		}
	}
	return p
}
