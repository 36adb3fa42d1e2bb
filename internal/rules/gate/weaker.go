package gate

import (
	"reflect"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// Weaker reports that one capability lets out, or asks less for, what another would have
// asked for or denied: for some inputs its verdict is less severe, or a rule that asks or
// denies is gone, or one that allows was added. Reasons don't count. Where the rules are too
// many to compare, any change counts: m bounds the comparisons of one edit together.
func Weaker(m *cost.Meter, was, now *countersign.Capability) bool {
	if alike(was.ApprovalRules, now.ApprovalRules) && was.NeedsApproval() == now.NeedsApproval() {
		return false
	}
	if restricting(now) < restricting(was) || allowing(now) > allowing(was) {
		return true
	}
	t, ok := newTable(true, was.ApprovalRules, now.ApprovalRules)
	if !ok || !m.Take(2*t.steps, "approvalRules") {
		return true
	}
	found := false
	t.each(func(r row) bool {
		found = less(judge(Now, was, r.reader()), judge(Now, now, r.reader()))
		return !found
	})
	return found
}

func alike(a, b []countersign.ApprovalRule) bool {
	return slices.EqualFunc(a, b, func(x, y countersign.ApprovalRule) bool {
		x.Reason, y.Reason = "", ""
		return reflect.DeepEqual(x, y)
	})
}

func restricting(c *countersign.Capability) int { return len(c.ApprovalRules) - allowing(c) }

func allowing(c *countersign.Capability) (n int) {
	for i := range c.ApprovalRules {
		if c.ApprovalRules[i].Then == countersign.RuleAllow {
			n++
		}
	}
	return n
}

// less reports a verdict that asks for less than another: it is less severe, or asks fewer,
// or others than the groups that were asked.
func less(was, now Verdict) bool {
	if was.Then != now.Then {
		return severity[now.Then] < severity[was.Then]
	}
	missing := slices.ContainsFunc(was.Groups, func(g string) bool { return !slices.Contains(now.Groups, g) })
	others := len(was.Groups) > 0 && was.Approvals > 1 && len(now.Groups) > len(was.Groups)
	return was.Asks() && (now.Approvals < was.Approvals || missing || others || escalatesMore(was, now))
}

// escalatesMore reports that others may decide in place of a group that was asked, or
// sooner.
func escalatesMore(was, now Verdict) bool {
	for _, e := range now.Escalations {
		for _, of := range e.For {
			covers := func(w Escalation) bool {
				return w.After <= e.After && slices.Contains(w.For, of) && !slices.ContainsFunc(e.Groups, func(g string) bool { return !slices.Contains(w.Groups, g) })
			}
			if slices.Contains(was.Groups, of) && !slices.ContainsFunc(was.Escalations, covers) {
				return true
			}
		}
	}
	return false
}
