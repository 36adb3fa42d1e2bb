package receipt

// askedByBudget reports a step that required approval where its capability's policy asks
// for none, and that a budget may have asked for. What was used of a budget stands in no
// receipt; such a step needs its approvals like any other.
func askedByBudget(s, capability node) bool {
	return s.at("approvalRequired").isTrue() && (len(capability.at("budgets").list()) > 0 || s.at("agentId").exists())
}
