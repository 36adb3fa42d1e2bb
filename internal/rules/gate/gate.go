// Package gate decides whether a request is let out, asked for or denied: by the approval
// rules of its capability over the inputs that will be sent, and where none of them holds by
// the capability's approval. It also decides when enough have approved. It is pure.
package gate

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
)

// Verdict is what the gate says of a request.
type Verdict struct {
	Then      string   // countersign.RuleAllow, RuleAsk or RuleDeny
	Approvals int      // of RuleAsk: how many different deciders must approve
	Groups    []string // of RuleAsk, sorted: every decider is a member of one, and each has a decider
	Rules     []int    // the rules that say so, by index; none: the capability's approval does
	Reasons   []string // of these rules, each once

	Escalations []Escalation // of RuleAsk
}

// Escalation says who may decide for some of the groups once nobody has for a while.
type Escalation struct {
	After       time.Duration
	Groups, For []string
}

// Asks reports a request that needs approval.
func (v Verdict) Asks() bool { return v.Then == countersign.RuleAsk }

// WouldBe is the verdict as a rehearsed step says it.
func (v Verdict) WouldBe() string {
	if v.Then == countersign.RuleDeny {
		return countersign.WouldBeDenied
	}
	return v.Then
}

// severity orders what rules say: the severest of those that hold wins.
var severity = map[string]int{countersign.RuleAllow: 1, countersign.RuleAsk: 2, countersign.RuleDeny: 3}

// Edition says by which meaning of the rules a plan is judged, for as long as it is kept:
// countersign.Plan.Gate.
type Edition int64

// Editions of the gate.
const (
	First Edition = 0                // of plans that don't say it
	Now   Edition = countersign.Gate // of plans that are made now
)

// OfPlan is the edition that a plan is judged by.
func OfPlan(p *countersign.Plan) Edition { return Edition(p.Gate) }

// names are how members are read: since the third edition a name in another case isn't
// another name.
func (e Edition) names() inputs.Names { return inputs.Names(e >= countersign.Gate) }

// Judge decides about inputs as they will be sent. open names inputs whose values are not
// known yet, as in a rehearsal those that are bound to an earlier step's answer.
// There is no verdict once the meter has come to its end.
func Judge(m *cost.Meter, e Edition, c *countersign.Capability, input map[string]countersign.Value, open map[string]countersign.Binding) Verdict {
	return judge(e, c, reader{inputs.Of(m, "approvalRules", e.names(), input, open).Read, m})
}

func judge(e Edition, c *countersign.Capability, read reader) Verdict {
	v := Verdict{}
	for i := range c.ApprovalRules {
		r := &c.ApprovalRules[i]
		v.add(i, r, said(r, read))
	}
	if v.Then == "" {
		v.Then = byApproval(e, c)
	}
	if !v.Asks() {
		v.Approvals, v.Groups, v.Escalations = 0, nil, nil
		return v
	}
	v.Approvals = max(1, v.Approvals)
	slices.Sort(v.Groups)
	v.Groups = slices.Compact(v.Groups)
	return v
}

// said is what a rule says of these inputs, "" if it doesn't hold. What isn't known never
// loosens, so a rule of which it is unknown whether it holds asks.
func said(r *countersign.ApprovalRule, read reader) string {
	switch holds(&r.When, read) {
	case isTrue:
		return r.Then
	case isUnknown:
		return countersign.RuleAsk
	default:
		return ""
	}
}

// add adds what a rule says, unless it says nothing or a severer one is known. Of several that ask, the most
// approvals and all groups count.
func (v *Verdict) add(i int, r *countersign.ApprovalRule, then string) {
	if severity[then] == 0 || severity[then] < severity[v.Then] {
		return
	}
	if severity[then] > severity[v.Then] {
		*v = Verdict{Then: then}
	}
	v.Rules = append(v.Rules, i)
	if !slices.Contains(v.Reasons, r.Reason) {
		v.Reasons = append(v.Reasons, r.Reason)
	}
	v.Approvals = max(v.Approvals, int(r.Approvals))
	v.Groups = append(v.Groups, r.Groups...)
	if r.Escalate != nil {
		v.Escalations = append(v.Escalations, Escalation{After: r.Escalate.Wait(), Groups: r.Escalate.Groups, For: r.Groups})
	}
}

// byApproval is the verdict where no rule holds.
func byApproval(e Edition, c *countersign.Capability) string {
	if c.NeedsApprovalBy(int64(e)) {
		return countersign.RuleAsk
	}
	return countersign.RuleAllow
}
