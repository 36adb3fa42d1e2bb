package receipt

// mayHaveBudget reports a step that a budget may have judged, of its capability or of its
// agent. What was used of a budget stands in no receipt, so whether it asked or denied
// can't be computed anew; a step that required approval needs its approvals whoever asked.
func mayHaveBudget(s, capability node) bool {
	return len(capability.at("budgets").list()) > 0 || s.at("agentId").exists()
}
