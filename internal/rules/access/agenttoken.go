package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// agentOperations are all that an agent token may ask for (contract 11): what its
// agents do themselves. An operation that isn't named here is refused, so one that is
// added later needs a decision before it is open to software that nobody watches.
var agentOperations = map[Operation]bool{
	StartAgentRun: true, // its agents' MCP doors pass here too
	SendHeartbeat: true,
	ReadAgents:    true,
	ReadRuns:      true,
	CancelRun:     true,
}

// ForAgents reports an agent token: it acts for some agents and reaches nothing else.
func (p Principal) ForAgents() bool { return p.Agents != nil }

// ActsFor is nil when the principal may act for the agent, as far as its token goes.
func ActsFor(p Principal, agentID string) error {
	if !p.ForAgents() || slices.Contains(p.Agents, agentID) {
		return nil
	}
	return beyond(p, "agent "+agentID+" is none of them")
}

// InRun is nil when the principal may see a run by this agent ("" for a run that is no
// agent's own) on these projects.
func InRun(p Principal, agentID string, projects ...string) error {
	if p.ForAgents() && !slices.Contains(p.Agents, agentID) {
		return beyond(p, "this run is no run of theirs")
	}
	return InScope(p, projects...)
}

// Cancel is nil when the principal may cancel what the requester started: an agent
// token cancels its own runs alone, and an agent's identity those that it started itself.
func Cancel(p Principal, by Requester) error {
	if !p.ForAgents() || p.ID == by.ID && sameIdentity(p.Identity, by.Identity) {
		return nil
	}
	return beyond(p, "it cancels only the runs that it started itself")
}

func sameIdentity(a, b *countersign.Identity) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// namedAgents is how many agents a refusal names.
const namedAgents = 5

func beyond(p Principal, why string) error {
	whose := strings.Join(p.Agents, ", ")
	if len(p.Agents) > namedAgents {
		whose = fmt.Sprintf("%d agents", len(p.Agents))
	}
	return countersign.Errorf(countersign.CodeRoleRequired, "this token is for %s; %s", whose, why)
}
