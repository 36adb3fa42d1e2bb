package countersign

// MaxPlayed is how many runs a what-if plays at most.
const MaxPlayed = 1000

// WhatIfRequest is the body of POST /projects/{id}/what-if: a capability with another gate, which is
// given or is that of a proposed change. What is left out is as it is today.
type WhatIfRequest struct {
	Capability    string         `json:"capability,omitempty" doc:"may be left out with a change that gives one capability another gate"`
	ChangeID      string         `json:"changeId,omitempty" doc:"a change of this project that is proposed, in place of a gate; for who reads changes"`
	Approval      string         `json:"approval,omitempty" enum:"NONE,RISK_BASED,ALWAYS"`
	ApprovalRules []ApprovalRule `json:"approvalRules,omitempty" nullable:"false" doc:"[] for none"`
	Budgets       []Budget       `json:"budgets,omitempty" nullable:"false" doc:"[] for none"`
	Last          int64          `json:"last,omitempty" minimum:"1" maximum:"1000" doc:"so many LIVE runs of the capability, the newest; with changeId 1000 if it is left out"`
}

// WhatIf is what became of runs, and what would become of them by another gate.
type WhatIf struct {
	Played   int           `json:"played" doc:"runs; fewer than there are where judging them all would cost too much"`
	Today    WhatIfCounts  `json:"today" doc:"what happened"`
	Then     WhatIfCounts  `json:"then" doc:"what would"`
	ByField  *WhatIfField  `json:"byField,omitempty" doc:"by the first number that the title, rules or budgets name"`
	Loosened []WhatIfLoose `json:"loosened" nullable:"false" doc:"what would have gone out unasked, and a person rejected; newest first"`
}

// WhatIfCounts counts steps that came to the gate.
type WhatIfCounts struct {
	Sent   int `json:"sent" doc:"without asking a person"`
	Asked  int `json:"asked"`
	Denied int `json:"denied" doc:"by a rule or a budget"`
}

// WhatIfField says what would become of steps by the value of an input.
type WhatIfField struct {
	Input   string         `json:"input"`
	Buckets []WhatIfBucket `json:"buckets" nullable:"false"`
}

// WhatIfBucket are the steps with a value of from or more, and less than to.
type WhatIfBucket struct {
	From Value `json:"from"`
	To   Value `json:"to"`
	WhatIfCounts
}

// WhatIfLoose is a rejected step that nobody would have been asked about.
type WhatIfLoose struct {
	RunID         string           `json:"runId"`
	Inputs        map[string]Value `json:"inputs" nullable:"false"`
	DecidedBy     string           `json:"decidedBy,omitempty"`
	DecidedByName string           `json:"decidedByName,omitempty" doc:"a token's name, a user's or an agent's"`
	Reason        string           `json:"reason,omitempty"`
}
