package agents

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// storedAgent is an agent as it is stored; without fields if it isn't.
type storedAgent struct {
	head    *records.AgentHead
	version int64
	agent   *countersign.Agent
}

// idsOf are the ids of a manifest's agents.
func idsOf(projectID string, items []countersign.ManifestAgent) []string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = registry.ID(projectID, item.ExternalAgentID)
	}
	return ids
}

// storedAgents reads those of some agents that there are, by id: all of them in two lists, since a
// manifest has hundreds, and each single read is a message to the database.
func storedAgents(tx store.Tx, tenant string, ids []string) (map[string]storedAgent, error) {
	rows, err := tx.List(store.Agents, tenant, store.Query{Where: []store.Filter{core.Within("id", ids)}})
	if err != nil {
		return nil, err
	}
	out, revisions := make(map[string]storedAgent, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		head := new(records.AgentHead)
		if err := records.Decode(row, head); err != nil {
			return nil, err
		}
		out[head.ID], revisions[i] = storedAgent{head: head, version: row.Version}, records.RevisionID(head.ID, head.Revision)
	}
	contents, err := records.AgentRevisions.List(tx, tenant, store.Query{Where: []store.Filter{core.Within("id", revisions)}})
	if err != nil {
		return nil, err
	}
	for _, content := range contents {
		of := out[content.ID]
		agent := reach.WithHead(content, of.head)
		of.agent = &agent
		out[content.ID] = of
	}
	for id, of := range out {
		if of.agent == nil {
			return nil, fmt.Errorf("content of agent %s at revision %d: %w", id, of.head.Revision, store.ErrNotFound)
		}
	}
	return out, nil
}

// shownTogether returns agents as the actor may see them, each with its present liveness: in lists,
// unless one of them was ever heard.
func (s *AgentService) shownTogether(tx store.Tx, a core.Actor, ids []string) ([]countersign.Agent, error) {
	stored, err := storedAgents(tx, a.Tenant, ids)
	if err != nil {
		return nil, err
	}
	heard, err := tx.Count(store.Instances, a.Tenant, store.Query{Where: []store.Filter{core.Within("agent", ids)}})
	if err != nil {
		return nil, err
	}
	out := make([]countersign.Agent, len(ids))
	for i, id := range ids {
		of, there := stored[id]
		if !there {
			return nil, fmt.Errorf("agent %s: %w", id, store.ErrNotFound)
		}
		out[i] = *of.agent
		out[i].Liveness, out[i].LastHeartbeatAt = registry.Liveness(registry.Evidence{}, s.Config.Now())
		if heard > 0 {
			if out[i].Liveness, out[i].LastHeartbeatAt, err = livenessOf(tx, a.Tenant, id, s.Config.Now()); err != nil {
				return nil, err
			}
		}
		if err := core.MaskAgentFor(tx, a, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
