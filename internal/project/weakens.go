package project

import "github.com/countersign/countersign"

// Weakens reports that a project's edit lets something out that it held back before,
// or judges it by something else: an approval lowered, another origin, another probe.
// known is the capability of a name as it was before this edit, the latest one where
// an earlier edit took it away; nil for one that is new.
func Weakens(before, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	if before.BaseURL != "" && before.BaseURL != after.BaseURL {
		return true
	}
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		if was := known(now.Name); was != nil && weakened(was, now) {
			return true
		}
	}
	return false
}

// weakened compares a capability by what it asks for, whether it says so or has it by
// default: to call a side effect a read lowers its approval too.
func weakened(was, now *countersign.Capability) bool {
	lowered := strictness[now.ApprovalPolicy()] < strictness[was.ApprovalPolicy()]
	asksLess := was.NeedsApproval() && !now.NeedsApproval()
	return lowered || asksLess || was.Probe != "" && was.Probe != now.Probe
}

var strictness = map[string]int{countersign.ApprovalNone: 0, countersign.ApprovalRiskBased: 1, countersign.ApprovalAlways: 2}
