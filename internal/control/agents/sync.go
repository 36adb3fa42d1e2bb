package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// SyncService applies the manifests of project systems.
type SyncService struct {
	*core.Core
	agents *AgentService
	syncs  *semaphore.Semaphore // one manifest at a time
}

// NewSyncs returns the use cases.
func NewSyncs(c *core.Core, agents *AgentService) *SyncService {
	return &SyncService{Core: c, agents: agents, syncs: semaphore.New(1)}
}

// SyncAgents applies a project system's manifest to the registry, all of it or nothing
// (specification 2.14, contract 7). Back ends send the same manifest at each of their
// starts, so an unchanged one only reads.
//
// What a manifest is compared with, and the answer to it, is some thousand reads: one at a time is
// brought to the registry, the tenants in turn.
func (s *SyncService) SyncAgents(ctx context.Context, a core.Actor, projectID string, m countersign.Manifest) (out []countersign.Agent, err error) {
	if err := core.WellFormed(a, m); err != nil {
		return out, err
	}
	busy := s.syncs.Do(ctx, a.Tenant, func() { out, err = s.syncInTurn(ctx, a, projectID, m) })
	return out, cmp.Or(core.Public(busy), err)
}

func (s *SyncService) syncInTurn(ctx context.Context, a core.Actor, projectID string, m countersign.Manifest) (out []countersign.Agent, err error) {
	subject := "project/" + projectID
	var changes []agentChange
	err = core.WhileMoved(func() error {
		changes, err = s.syncAgents(ctx, a, subject, projectID, &m)
		return err
	})
	if err != nil {
		return nil, err
	}
	if changed(changes) {
		ctx = context.WithoutCancel(ctx) // the manifest is committed, so the answer must not deny it
	}
	err = s.View(ctx, a, access.SyncAgents, func(tx store.Tx) error {
		out = make([]countersign.Agent, len(changes))
		for i, c := range changes {
			head, _, err := records.Agents.Get(tx, a.Tenant, c.next.ID)
			if err != nil {
				return err
			}
			if out[i], err = s.agents.shownAgent(tx, a, head); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// syncAgents returns what the manifest changes, once that is stored.
func (s *SyncService) syncAgents(ctx context.Context, a core.Actor, subject, projectID string, m *countersign.Manifest) (changes []agentChange, err error) {
	err = access.Allow(a.Principal, access.SyncAgents)
	var judged judgedManifest
	if err == nil {
		judged, err = s.judgeManifest(ctx, a, projectID, m)
	}
	if err == nil {
		err = s.Read(ctx, func(tx store.Tx) error {
			changes, err = s.compareManifest(tx, a, projectID, judged)
			return err
		})
	}
	if err = s.Refuse(ctx, a, access.SyncAgents, subject, err); err != nil || !changed(changes) {
		return changes, err
	}
	return changes, s.applyManifest(ctx, a, subject, projectID, judged)
}

func changed(changes []agentChange) bool {
	return slices.ContainsFunc(changes, func(c agentChange) bool { return c.is })
}

// applyManifest compares again, in the transaction that writes.
func (s *SyncService) applyManifest(ctx context.Context, a core.Actor, subject, projectID string, m judgedManifest) error {
	return s.UpdateInTurn(ctx, a, access.SyncAgents, subject, func(tx store.Tx) error {
		changes, err := s.compareManifest(tx, a, projectID, m)
		if err != nil {
			return err
		}
		return s.saveChanges(tx, a, changes)
	})
}

// agentChange is the change that a manifest makes to one agent.
type agentChange struct {
	was     *countersign.Agent // nil: it is new
	head    *records.AgentHead
	version int64
	next    countersign.Agent
	is      bool // false: nothing changes
}

// compareManifest returns what a manifest changes. Its error names every problem, or every
// conflict.
func (s *SyncService) compareManifest(tx store.Tx, a core.Actor, projectID string, m judgedManifest) ([]agentChange, error) {
	facts, err := manifestFacts(tx, a, projectID, m.Manifest)
	if err != nil {
		return nil, err
	}
	if err := m.by(facts); err != nil {
		return nil, err
	}
	stored, err := storedAgents(tx, a.Tenant, projectID, m.Agents)
	if err != nil {
		return nil, err
	}
	changes := make([]agentChange, len(m.Agents))
	var conflicts []countersign.Problem
	for i, item := range m.Agents {
		c, err := s.compareAgent(stored[registry.ID(projectID, item.ExternalAgentID)], projectID, item)
		var conflict *countersign.Error
		switch {
		case errors.As(err, &conflict):
			conflicts = append(conflicts, countersign.Problem{Message: conflict.Message})
		case err != nil:
			return nil, err
		}
		changes[i] = c
	}
	if err := syncInUse(changes, facts); err != nil {
		return nil, err
	}
	if len(conflicts) > 0 {
		return nil, countersign.Refusal(countersign.CodeManifestConflict, conflicts...)
	}
	return changes, nil
}

func (s *SyncService) compareAgent(stored storedAgent, projectID string, item countersign.ManifestAgent) (c agentChange, err error) {
	c.head, c.version, c.was = stored.head, stored.version, stored.agent
	c.next, c.is, err = registry.Sync(c.was, projectID, item, s.Config.Now())
	return c, err
}

// storedAgent is an agent as it is stored; without fields if it isn't.
type storedAgent struct {
	head    *records.AgentHead
	version int64
	agent   *countersign.Agent
}

// storedAgents reads those of a manifest's agents that there are, by id: all of them in two lists,
// since each single read would keep all other writers waiting.
func storedAgents(tx store.Tx, tenant, projectID string, items []countersign.ManifestAgent) (map[string]storedAgent, error) {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = registry.ID(projectID, item.ExternalAgentID)
	}
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

// manifestFacts reads what a manifest is checked against.
func manifestFacts(tx store.Tx, a core.Actor, projectID string, m *countersign.Manifest) (registry.Facts, error) {
	f := registry.Facts{Models: map[string]registry.ModelOwner{}}
	head, _, err := reach.Project(tx, a, projectID)
	if err != nil {
		return f, err
	}
	if head.Retired {
		return f, plan.Retired(plan.KindProject, projectID)
	}
	f.Project, _, err = records.ProjectRevisions.Get(tx, a.Tenant, records.RevisionID(projectID, head.Revision))
	if err != nil {
		return f, err
	}
	for _, id := range registry.ModelIDs(m) {
		head, _, err := records.Models.Get(tx, a.Tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return f, err
		}
		owner, err := modelOwner(tx, a.Tenant, id)
		if err != nil {
			return f, err
		}
		owner.Retired = head.Retired
		f.Models[id] = owner
	}
	return f, nil
}

// modelOwner finds the project whose agents use a model. One agent is enough, since all
// agents of a model belong to one project.
func modelOwner(tx store.Tx, tenant, modelID string) (registry.ModelOwner, error) {
	list, err := records.Agents.List(tx, tenant, store.Query{Where: []store.Filter{store.Equal("model", modelID)}, Limit: 1})
	if err != nil || len(list) == 0 {
		return registry.ModelOwner{}, err
	}
	return registry.ModelOwner{ProjectID: list[0].ProjectID}, nil
}

func (s *SyncService) saveChanges(tx store.Tx, a core.Actor, changes []agentChange) error {
	var recs []countersign.AuditRecord
	for _, c := range changes {
		if !c.is {
			continue
		}
		if err := saveAgent(tx, a.Tenant, c.head, c.version, c.next); err != nil {
			return err
		}
		rec := s.Record(a, access.SyncAgents, "agent/"+c.next.ID)
		rec.After, rec.Reason = registered(c.next), "manifest of "+c.next.ExternalAgentID
		if c.was != nil {
			rec.Before = registered(*c.was)
		}
		recs = append(recs, rec)
	}
	crashpoint.At("control.written", access.SyncAgents)
	return audit.Append(tx, a.Tenant, recs)
}

// syncInUse refuses a manifest that changes a retired agent, or that newly names a retired
// model. A back end that sends the same manifest as before is not refused.
func syncInUse(changes []agentChange, f registry.Facts) error {
	for _, c := range changes {
		switch {
		case !c.is:
		case c.was != nil && c.was.Retired:
			return plan.Retired(plan.KindAgent, c.was.ID)
		case f.Models[c.next.ModelID].Retired:
			return plan.Retired(plan.KindModel, c.next.ModelID)
		}
	}
	return nil
}
