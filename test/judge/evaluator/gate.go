package evaluator

import (
	"math/big"
	"slices"
)

// verdict is what the gate says of a step.
type verdict struct {
	then   string // ALLOW, ASK, DENY
	code   string // of a denial
	needed int
	groups []string
}

// gate judges the step of a run: rules, budgets, the policy, and what is open.
func (e *Evaluator) gate(r *run) verdict {
	v := e.byRules(r)
	if v.then == "DENY" {
		return v
	}
	for _, then := range e.budgetsBroken(r) {
		if then == "DENY" && e.follows("budget-denies") {
			return verdict{then: "DENY", code: "denied_by_budget"}
		}
		if then == "ASK" && e.follows("budget-asks") {
			v.then = "ASK"
		}
	}
	if r.door == "tool" && len(e.openAlike(r)) > 0 && e.follows("open-asks") {
		v.then = "ASK"
	}
	return v
}

var severity = []string{"", "ALLOW", "ASK", "DENY"}

// byRules: "Of the rules that hold the severest wins (DENY over ASK over ALLOW); none holding: approval decides" (11);
// "a rule whose condition is unknown counts as ASK (with its approvals and groups)".
func (e *Evaluator) byRules(r *run) verdict {
	v := verdict{needed: 1}
	for _, rule := range r.capability.Rules {
		then := e.thenOf(rule, r.inputs)
		if then == "ASK" {
			e.several(&v, rule)
		}
		severer := slices.Index(severity, then) > slices.Index(severity, v.then)
		if v.then != "" && then != "" && !e.follows("severest") {
			severer = !severer
		}
		if severer {
			v.then = then
		}
	}
	switch v.then {
	case "":
		v.then = e.policy(r.capability)
	case "DENY":
		v.code = "denied_by_rule"
	}
	return v
}

func (e *Evaluator) thenOf(rule Rule, inputs map[string]any) string {
	switch e.holds(rule.When, inputs) {
	case yes:
		return rule.Then
	case unknown:
		if e.follows("unknown-asks") {
			return "ASK"
		}
		return rule.Then
	default:
		return ""
	}
}

// several: "where several ASK rules hold, the most and all groups count".
func (e *Evaluator) several(v *verdict, rule Rule) {
	if e.follows("most-approvals") {
		v.needed = max(v.needed, rule.Approvals)
	}
	for _, g := range rule.Groups {
		if !slices.Contains(v.groups, g) && (len(v.groups) == 0 || e.follows("all-groups")) {
			v.groups = append(v.groups, g)
		}
	}
	slices.Sort(v.groups)
}

// policy is what `approval` decides (5; with rules of which none holds: 12.1).
func (e *Evaluator) policy(c *Capability) string {
	approval := c.Approval
	if approval == "" && c.sideEffect() == e.follows("default-approval") {
		approval = "ALWAYS"
	}
	switch approval {
	case "ALWAYS":
		return "ASK"
	case "RISK_BASED":
		exempt := c.Idempotent && (c.Method != "DELETE" || !e.follows("delete-asks"))
		if len(c.Rules) > 0 && e.follows("unnamed-asks") {
			exempt = false
		}
		if c.sideEffect() && !exempt {
			return "ASK"
		}
	}
	return "ALLOW"
}

// budgetsBroken is the `then` of each budget that the step would exceed.
func (e *Evaluator) budgetsBroken(r *run) (out []string) {
	for _, b := range r.capability.Budgets {
		if e.exceeds(b, r, e.uses(r, func(other *run) bool { return other.capability == r.capability })) {
			out = append(out, b.Then)
		}
	}
	if r.byAgent() {
		for _, b := range e.world.AgentBudgets {
			if e.exceeds(b, r, e.uses(r, (*run).byAgent)) {
				out = append(out, b.Then)
			}
		}
	}
	return out
}

// uses are the runs that count besides r: "each step once, at the time of its last sending. Only not_sent gives a place
// back" (12.1). No window ends while a sequence is played.
func (e *Evaluator) uses(r *run, of func(*run) bool) (out []*run) {
	for _, other := range e.runs {
		if e.counts(other) && of(other) && (other != r || !e.follows("each-once")) {
			out = append(out, other)
		}
	}
	return out
}

func (e *Evaluator) counts(r *run) bool {
	if r.code == "not_sent" && r.attempt == 1 {
		return !e.follows("not-sent-frees")
	}
	if (r.status == "FAILED" || r.status == "CANCELLED") && !e.follows("nothing-else-frees") {
		return false
	}
	return r.attempt > 0
}

func (e *Evaluator) exceeds(b Budget, r *run, uses []*run) bool {
	if b.Count > 0 {
		if !e.follows("count-at-most") {
			return len(uses) > b.Count
		}
		return len(uses)+1 > b.Count
	}
	sum := new(big.Rat)
	for _, other := range append(uses, r) {
		if n, ok := number(other.inputs[b.Sum]); ok {
			sum.Add(sum, n)
		}
	}
	most, _ := number(b.Most)
	if !e.follows("sum-at-most") {
		return sum.Cmp(most) >= 0
	}
	return sum.Cmp(most) > 0
}
