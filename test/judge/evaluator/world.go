package evaluator

// World is what a sequence is played in: one project with its capabilities, and one agent that has all of them.
type World struct {
	Capabilities []Capability `json:"capabilities"`
	AgentBudgets []Budget     `json:"agentBudgets,omitempty"`
}

// Capability is what decides about one; Path and the like are the player's.
type Capability struct {
	Name       string           `json:"name"`
	Method     string           `json:"method"`
	Approval   string           `json:"approval,omitempty"`
	Idempotent bool             `json:"idempotent,omitempty"`
	Title      string           `json:"title,omitempty"`
	Expects    bool             `json:"-"` // of its answers: {"ok":true}
	Inputs     map[string]Input `json:"inputSchema"`
	Rules      []Rule           `json:"approvalRules,omitempty"`
	Budgets    []Budget         `json:"budgets,omitempty"`

	Precondition *Precondition `json:"precondition,omitempty"`
}

// Input is an input of a capability.
type Input struct {
	Type     string   `json:"type"`
	OrTypes  []string `json:"orTypes,omitempty"`
	Required bool     `json:"required"`
}

// Rule is an approval rule.
type Rule struct {
	When      Condition `json:"when"`
	Then      string    `json:"then"`
	Approvals int       `json:"approvals,omitempty"`
	Groups    []string  `json:"groups,omitempty"`
	Reason    string    `json:"reason"`
}

// Budget is a budget by count, or by the sum of an input.
type Budget struct {
	Count  int    `json:"count,omitempty"`
	Sum    string `json:"sum,omitempty"`
	Most   any    `json:"most,omitempty"`
	Window string `json:"window"`
	Then   string `json:"then"`
	Reason string `json:"reason"`
}

// Groups are the tenant's groups, each with its members.
var Groups = map[string][]string{"finance": {"ann", "ben"}, "legal": {"ben", "cid"}}

// Deciders have the role APPROVER. Ann, ben and cid are users, each with a token of their own; dan is a token of no user;
// oda is the operator who asks, and has the role too.
var Deciders = []string{"ann", "ben", "cid", "dan", "oda"}

func (c *Capability) sideEffect() bool { return c.Method != "GET" }

func (w *World) capability(name string) *Capability {
	for i := range w.Capabilities {
		if w.Capabilities[i].Name == name {
			return &w.Capabilities[i]
		}
	}
	return nil
}

// Operation is one step of a sequence. Which fields count depends on its kind.
type Operation struct {
	Kind string `json:"kind"` // start, decide, reconcile, cancel, receiver, state, stop, go, budgets, status

	// Run is the run that it is about, by the name that its start was given.
	Run string `json:"run,omitempty"`

	// Of a start: by which door (call: POST /projects/{id}/runs; agent: POST /agents/{id}/runs; tool: MCP;
	// rehearsal: MCP's rehearsals).
	Door       string `json:"door,omitempty"`
	Capability string `json:"capability,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Inputs     string `json:"inputs,omitempty"` // JSON
	Key        string `json:"key,omitempty"`
	Task       string `json:"task,omitempty"`
	Again      string `json:"again,omitempty"`

	By       string `json:"by,omitempty"`       // of a decision or a reconcile: one of Deciders
	Decision string `json:"decision,omitempty"` // APPROVED, REJECTED; of a reconcile the resolution
	Output   string `json:"output,omitempty"`   // of a reconcile: JSON
	Reason   string `json:"reason,omitempty"`   // "": a reason; " ": a blank one
	Answer   string `json:"answer,omitempty"`   // of a receiver: how it answers from now on; of a state: the answer of the read that looks at it
}

// Expected is a prediction: the value of each thing that is looked at, by name; a | stands between values that the
// contract leaves open. Absent is what isn't there.
type Expected map[string]string

// Absent is the value of what isn't there.
const Absent = "-"
