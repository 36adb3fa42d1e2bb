package records

import (
	"time"

	"github.com/countersign/countersign"
)

// AgentHead is the present state of an agent: small, so that asking for it before
// each step and at each heartbeat costs little. The whole agent stands in its
// revision.
type AgentHead struct {
	ID        string                  `json:"id"`
	ProjectID string                  `json:"projectId"`
	Revision  int64                   `json:"revision"`
	ModelID   string                  `json:"modelId,omitempty"`
	Status    countersign.AgentStatus `json:"status"`
	Suspended bool                    `json:"suspended"`
	Retired   bool                    `json:"retired,omitempty"`
	CreatedAt time.Time               `json:"createdAt"`
	UpdatedAt time.Time               `json:"updatedAt"`

	Budgets []countersign.Budget `json:"budgets,omitempty"` // of no revision: they count at once

	Identities         []AgentIdentity `json:"identities,omitempty" since:"3"` // likewise, with a revision of their own
	IdentitiesRevision int64           `json:"identitiesRevision,omitempty" since:"3"`
}

// Instance is a process of an agent, as its last heartbeat left it. Its sequence is the
// guard against a heartbeat that comes again: it is kept until such a one is refused by
// its timestamp, and far longer.
type Instance struct {
	AgentID    string                    `json:"agentId"`
	InstanceID string                    `json:"instanceId"`
	Sequence   int64                     `json:"sequence"`
	State      countersign.InstanceState `json:"state"`
	Timestamp  string                    `json:"timestamp"`
	ReceivedAt time.Time                 `json:"receivedAt"`
}

// InstanceRecordID is the id of an instance's record. "/" is no id character, so
// whatever an instance calls itself, it is its agent's.
func InstanceRecordID(agentID, instanceID string) string { return agentID + "/" + instanceID }

// TeamHead is the present state of a team; its content stands in its revision.
type TeamHead struct {
	ID        string    `json:"id"`
	Revision  int64     `json:"revision"`
	Projects  []string  `json:"projects"` // the members' systems
	Suspended bool      `json:"suspended"`
	Retired   bool      `json:"retired,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

func agentKeys(h *AgentHead) []any {
	return []any{h.ProjectID, string(h.Status), h.ModelID, flag(h.Retired)}
}

func instanceKeys(i *Instance) []any {
	return []any{i.AgentID, string(i.State), micros(i.ReceivedAt)}
}

func teamKeys(h *TeamHead) []any { return []any{Scope(h.Projects), flag(h.Retired)} }
