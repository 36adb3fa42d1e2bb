package agents

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
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
	err = s.View(ctx, a, access.SyncAgents, func(tx store.Tx) (err error) {
		out, err = s.agents.shownTogether(tx, a, idsOf(projectID, m.Agents))
		return err
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
	return changes, s.applyManifest(ctx, a, subject, judged, changes)
}

func changed(changes []agentChange) bool {
	return slices.ContainsFunc(changes, func(c agentChange) bool { return c.is })
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
	if err := m.stillHolds(tx, a); err != nil {
		return nil, err
	}
	stored, err := storedAgents(tx, a.Tenant, idsOf(projectID, m.Agents))
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
	if err := syncInUse(changes, m.facts); err != nil {
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

func (s *SyncService) saveChanges(tx store.Tx, a core.Actor, changes []agentChange) error {
	var recs []countersign.AuditRecord
	now := s.Config.Now()
	for _, c := range changes {
		if !c.is {
			continue
		}
		if c.next.UpdatedAt = now; c.was == nil {
			c.next.CreatedAt = now
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
