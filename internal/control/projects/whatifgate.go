package projects

import (
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/storage/store"
)

// asked completes what is asked, and refuses what doesn't say which gate is meant.
func asked(w *countersign.WhatIfRequest) error {
	var problems []countersign.Problem
	wrong := func(path, text string) {
		problems = append(problems, countersign.Problem{Path: path, Message: text})
	}
	switch {
	case w.ChangeID == "":
		if w.Capability == "" {
			wrong("capability", "is required, unless a changeId says which gate is meant")
		}
		if w.Last == 0 {
			wrong("last", "is required: 1 to 1000 runs")
		}
	case w.Approval != "" || w.ApprovalRules != nil || w.Budgets != nil:
		wrong("changeId", "the change says what the gate would be; leave out approval, approvalRules and budgets")
	case w.Last == 0:
		w.Last = countersign.MaxPlayed
	}
	return core.Wrong(problems)
}

// givenGate is the capability with the gate that is given.
func givenGate(p *countersign.Project, w countersign.WhatIfRequest) (would countersign.Capability, err error) {
	now := p.Capability(w.Capability)
	if now == nil {
		return would, countersign.Invalid("capability", "project %s has no capability %s", p.ID, w.Capability)
	}
	if would = *now; w.Approval != "" {
		would.Approval = w.Approval
	}
	if w.ApprovalRules != nil {
		would.ApprovalRules = w.ApprovalRules
	}
	if w.Budgets != nil {
		would.Budgets = w.Budgets
	}
	return would, nil
}

// changedGate is the capability as a proposed change would have it.
func (s *WhatIfService) changedGate(tx store.Tx, a core.Actor, p *countersign.Project, w countersign.WhatIfRequest) (would countersign.Capability, err error) {
	change, err := s.changed(tx, a, w.ChangeID)
	if err != nil {
		return would, err
	}
	if change.Operation != string(access.WriteProject) || change.RequestID != p.ID {
		return would, countersign.Invalid("changeId", "change %s is %q of %s; a change of project %s is played", change.ID, change.Operation, change.Subject, p.ID)
	}
	var changed countersign.ProjectWrite
	if err := exactjson.Decode([]byte(change.Body.Raw()), &changed); err != nil {
		return would, err
	}
	var gates []string
	for _, c := range changed.Capabilities {
		if w.Capability == c.Name {
			return c, nil
		}
		if now := p.Capability(c.Name); now == nil || !sameGate(now, &c) {
			would, gates = c, append(gates, c.Name)
		}
	}
	switch {
	case w.Capability != "":
		return would, countersign.Invalid("capability", "project %s has no capability %s by change %s", p.ID, w.Capability, change.ID)
	case len(gates) == 0:
		return would, countersign.Invalid("changeId", "change %s leaves approval, rules and budgets of each capability as they are; name a capability to play it all the same", change.ID)
	case len(gates) > 1:
		slices.Sort(gates)
		return would, countersign.Invalid("capability", "change %s gives several capabilities another gate; name one of %s", change.ID, strings.Join(gates, ", "))
	}
	return would, nil
}

// sameGate reports that two capabilities have the same approval, rules and budgets; none and no list are the same.
func sameGate(a, b *countersign.Capability) bool {
	return a.ApprovalPolicy() == b.ApprovalPolicy() &&
		reflect.DeepEqual(append([]countersign.ApprovalRule{}, a.ApprovalRules...), append([]countersign.ApprovalRule{}, b.ApprovalRules...)) &&
		reflect.DeepEqual(append([]countersign.Budget{}, a.Budgets...), append([]countersign.Budget{}, b.Budgets...))
}
