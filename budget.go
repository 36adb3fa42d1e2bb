package countersign

import "time"

// Bounds of a budget's window (contract 11).
const (
	MinBudgetWindow = time.Second
	MaxBudgetWindow = 720 * time.Hour
)

// What a budget says of a step that would exceed it.
const (
	BudgetAsk  = "ASK"
	BudgetDeny = "DENY"
)

// Budget bounds how often LIVE steps are sent, or the sum of an input, within a window
// that slides over the times of their intents to send. Each step counts once.
type Budget struct {
	Count  int64  `json:"count,omitzero" minimum:"1" doc:"so many steps; instead of sum and most"`
	Sum    string `json:"sum,omitempty" doc:"a number input, of which the values are added exactly; one below 0 adds nothing"`
	Most   Value  `json:"most,omitzero" null:"absent" doc:"with sum: the most that the values may come to, a number"`
	Window string `json:"window" doc:"a Go duration, 1s to 720h"`
	Then   string `json:"then" enum:"ASK,DENY" doc:"of a step that would exceed it"`
	Reason string `json:"reason" doc:"never blank; shown to who is asked or denied"`
}

// Duration is the window's length, 0 for one that can't be read.
func (b Budget) Duration() time.Duration {
	d, err := time.ParseDuration(b.Window)
	if err != nil {
		return 0
	}
	return d
}

// BudgetUse is what is used of a budget at this moment.
type BudgetUse struct {
	Capability string `json:"capability,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
	Budget     Budget `json:"budget"`

	Used            Value     `json:"used,omitzero" doc:"so many steps, or what their values come to; absent where the budget adds what is hidden from you"`
	MayHaveHappened Value     `json:"mayHaveHappened,omitzero" doc:"of used: of steps of which nobody knows whether they took effect, or that may have though they failed; of the newest 5,000 steps in the window"`
	FreeAt          time.Time `json:"freeAt,omitzero" doc:"of a budget that is used up: when it has room again if nothing else is sent"`
}

// BudgetUses is the answer of GET /budgets.
type BudgetUses struct {
	Items []BudgetUse `json:"items" nullable:"false"`
}
