package countersign

// What people compare an approval with. Each is computed for whoever reads it, over runs in
// their scope, and is left out below FewestCompared.

// FewestCompared is how many there are at least of what an approval is compared with.
const FewestCompared = 5

// Usual is what is usually approved of a capability.
type Usual struct {
	Count  int    `json:"count" doc:"approved requests of the last 90 days that have such a number; of the newest 5,000 approvals at most"`
	Field  string `json:"field" doc:"the first number that the capability's title, rules or budgets name"`
	Median Value  `json:"median" doc:"a number, exact"`
}

// RequesterRecord is what became of what the same agent asked for, or the same token: of LIVE
// runs that have ended, or whose outcome nobody knows; the newest 5,000 at most.
type RequesterRecord struct {
	Runs     int `json:"runs"`
	Verified int `json:"verified" doc:"completed, and all that was expected is so"`
	Rejected int `json:"rejected" doc:"by a person"`
}

// SuggestedFrom is the rejection in which somebody suggested these very inputs.
type SuggestedFrom struct {
	ApprovalID string `json:"approvalId"`
	RunID      string `json:"runId"`
	By         string `json:"by" doc:"who suggested them"`
	ByName     string `json:"byName,omitempty" doc:"a token's name, a user's or an agent's"`
}
