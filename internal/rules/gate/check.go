package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// Codes of what is wrong with a rule.
const (
	badRule      = "bad_rule"
	unknownInput = "undeclared_input"
	wrongType    = "wrong_type"
)

// maxReason is the longest reason of a rule, in bytes.
const maxReason = 1000

// Check names all that is wrong with a capability's rules by themselves. Whether the groups
// that they name exist is the tenant's question. Paths are relative to the capability.
// What is found after the meter has come to its end is left out.
func Check(m *cost.Meter, c *countersign.Capability) []countersign.Problem {
	k := checking{capability: c, meter: m}
	if n := len(c.ApprovalRules); n > countersign.MaxApprovalRules {
		k.add("approvalRules", badRule, "%d rules are too many; at most %d", n, countersign.MaxApprovalRules)
	}
	for i := range c.ApprovalRules {
		k.rule(fmt.Sprintf("approvalRules[%d]", i), &c.ApprovalRules[i])
	}
	return k.problems
}

type checking struct {
	capability *countersign.Capability
	meter      *cost.Meter
	problems   []countersign.Problem
}

func (k *checking) add(path, code, format string, args ...any) {
	k.problems = append(k.problems, countersign.Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (k *checking) rule(at string, r *countersign.ApprovalRule) {
	k.condition(at+".when", &r.When)
	switch {
	case severity[r.Then] == 0:
		k.add(at+".then", badRule, "must be one of ALLOW, ASK, DENY")
	case r.Then == countersign.RuleAllow && k.capability.ApprovalPolicy() == countersign.ApprovalAlways:
		k.add(at+".then", badRule, "ALLOW can't stand beside approval ALWAYS, which is also the default of a side effect; set approval to RISK_BASED, or let the rule ASK")
	}
	if r.Approvals < 0 || r.Approvals > countersign.MaxApprovals {
		k.add(at+".approvals", badRule, "must be 1 to %d", countersign.MaxApprovals)
	}
	if len(r.Groups) > countersign.MaxRuleGroups {
		k.add(at+".groups", badRule, "%d groups are too many; at most %d", len(r.Groups), countersign.MaxRuleGroups)
	}
	for j, id := range r.Groups[:min(len(r.Groups), countersign.MaxRuleGroups)] {
		if slices.Contains(r.Groups[:j], id) {
			k.add(fmt.Sprintf("%s.groups[%d]", at, j), badRule, "%s is named already", id)
		}
	}
	k.escalate(at+".escalate", r)
	switch {
	case safetext.Blank(r.Reason):
		k.add(at+".reason", badRule, "say why; it can't be blank")
	case len(r.Reason) > maxReason:
		k.add(at+".reason", badRule, "must not be longer than %d bytes", maxReason)
	}
}

// escalate checks who decides in place of a rule's groups.
func (k *checking) escalate(at string, r *countersign.ApprovalRule) {
	if r.Escalate == nil {
		return
	}
	if len(r.Groups) == 0 {
		k.add(at, badRule, "it belongs to groups: without them every approver may decide at once")
	}
	if d := r.Escalate.Wait(); d < countersign.MinEscalateAfter || d > countersign.MaxEscalateAfter {
		k.add(at+".after", badRule, "must be a duration of 1s to 720h, such as 4h")
	}
	if n := len(r.Escalate.Groups); n == 0 || n > countersign.MaxRuleGroups {
		k.add(at+".groups", badRule, "must name 1 to %d groups", countersign.MaxRuleGroups)
	}
	for j, id := range r.Escalate.Groups[:min(len(r.Escalate.Groups), countersign.MaxRuleGroups)] {
		if slices.Contains(r.Groups, id) || slices.Contains(r.Escalate.Groups[:j], id) {
			k.add(fmt.Sprintf("%s.groups[%d]", at, j), badRule, "%s is named already", id)
		}
	}
}

func (k *checking) condition(at string, c *countersign.Condition) {
	switch {
	case (c.Predicate == nil) == (c.Group == nil):
		k.add(at, badRule, "a condition is exactly one of predicate and group")
	case c.Predicate != nil:
		k.predicate(at, c.Predicate)
	case c.Group.Combinator != countersign.CombinatorAnd && c.Group.Combinator != countersign.CombinatorOr:
		k.add(at+".combinator", badRule, "must be AND or OR")
	default:
		for i := range c.Group.Conditions {
			k.condition(fmt.Sprintf("%s.conditions[%d]", at, i), &c.Group.Conditions[i])
		}
	}
}

func (k *checking) predicate(at string, p *countersign.Predicate) {
	if !k.meter.Take(k.looked(p.VariableID), at) {
		return
	}
	types, found := k.typesAt(p.VariableID)
	operator, is := countersign.OperatorNamed(p.Operator)
	switch {
	case request.Deeper(k.capability, p.VariableID) != "":
		k.add(at+".variableId", wrongType, "%s", request.Deeper(k.capability, p.VariableID))
		return
	case !found:
		k.add(at+".variableId", unknownInput, "%q names no input of the capability; a dotted path leads into an object or array", p.VariableID)
		return
	case !is:
		k.add(at+".operator", badRule, "must be one of %s", countersign.OperatorNames())
		return
	case operator.Unary:
		return
	case !k.operand(at, p, operator):
		return
	}
	if kind := p.Value.Kind().String(); types != nil && !slices.Contains(types, kind) {
		k.add(at+".value", wrongType, "%s is declared as %s, and this is a %s", p.VariableID, strings.Join(types, " or "), kind)
	}
}

// looked is what finding an input by its path takes: for each way to read the path, what is said
// of where inputs go.
func (k *checking) looked(path string) int {
	places := 1 + len(k.capability.Path)
	if r := k.capability.Request; r != nil {
		places += len(r.Query) + len(r.Body)
	}
	return places * (1 + min(strings.Count(path, "."), maxPath))
}

// maxPath bounds how many names a path has: what a path can be read as grows with them.
const maxPath = 12

// typesAt finds the types that a value at a path may have; nil is any.
func (k *checking) typesAt(path string) (types []string, found bool) {
	if path == "" || strings.Count(path, ".") >= maxPath {
		return nil, false
	}
	for name, rest := range inputs.Splits(path) {
		declared, ok := request.TypesOf(k.capability, name)
		switch {
		case !ok:
		case rest == "" && declared != nil:
			types, found = append(types, declared...), true
		case rest == "", declared == nil, declared[0] == "object", declared[0] == "array":
			return nil, true
		}
	}
	return types, found
}

// Groups are the groups that a project's rules name, each with the path of where first.
func Groups(p *countersign.Project) (ids, paths []string) {
	for i := range p.Capabilities {
		for j := range p.Capabilities[i].ApprovalRules {
			r := &p.Capabilities[i].ApprovalRules[j]
			at := fmt.Sprintf("capabilities[%d].approvalRules[%d].", i, j)
			add := func(path string, groups []string) {
				for n, id := range groups {
					if !slices.Contains(ids, id) {
						ids, paths = append(ids, id), append(paths, fmt.Sprintf("%s%s[%d]", at, path, n))
					}
				}
			}
			if add("groups", r.Groups); r.Escalate != nil {
				add("escalate.groups", r.Escalate.Groups)
			}
		}
	}
	return ids, paths
}
