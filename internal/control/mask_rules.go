package control

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// judgesHidden reports that a rule of the capability compares a sensitive input: which rule
// holds then tells something of its value.
func (h *fieldMask) judgesHidden() bool {
	if h.whole || h.capability == nil {
		return true
	}
	found := false
	for i := range h.capability.ApprovalRules {
		gate.EachPredicate(&h.capability.ApprovalRules[i].When, func(p *countersign.Predicate) { found = found || h.hidesPath(p.VariableID) })
	}
	return found
}
