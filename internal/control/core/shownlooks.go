package core

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// maskLooks takes out of a run that an agent reads what the reads for its preconditions have found,
// but those of reads that are capabilities of that agent.
func maskLooks(tx store.Tx, a Actor, r *countersign.Run) (failed error) {
	if !ShowsLooks(r) {
		return nil
	}
	known := map[string][]string{}
	mask.ForAgents(r, func(agentID, capability string) bool {
		of, read := known[agentID]
		if !read && slices.Contains(a.Agents, agentID) {
			var err error
			if of, err = capabilitiesOf(tx, a.Tenant, agentID); err != nil && !errors.Is(err, store.ErrNotFound) {
				failed = err
			}
			known[agentID] = of
		}
		return slices.Contains(of, capability)
	})
	return failed
}

// ShowsLooks reports a run of which an agent is shown less than others.
func ShowsLooks(r *countersign.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool { return len(s.Looks) > 0 || s.WouldCheck != nil })
}

func capabilitiesOf(tx store.Tx, tenant, agentID string) ([]string, error) {
	head, _, err := records.Agents.Get(tx, tenant, agentID)
	if err != nil {
		return nil, err
	}
	content, _, err := records.AgentRevisions.Get(tx, tenant, records.RevisionID(agentID, head.Revision))
	if err != nil {
		return nil, err
	}
	return content.Capabilities, nil
}
