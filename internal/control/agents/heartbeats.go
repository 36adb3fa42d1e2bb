package agents

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// HeartbeatService is the use cases of agents' instances.
type HeartbeatService struct {
	*core.Core
	batcher heartbeatBatcher
}

// NewHeartbeats returns the use cases.
func NewHeartbeats(c *core.Core) *HeartbeatService { return &HeartbeatService{Core: c} }

// Heartbeat records a heartbeat of an instance. Its answer means that the sequence is
// durable. Neither heartbeats nor their refusals are audited (contract 9).
func (s *HeartbeatService) Heartbeat(ctx context.Context, a core.Actor, agentID string, h countersign.Heartbeat) (countersign.HeartbeatAck, error) {
	if err := access.Allow(a.Principal, access.SendHeartbeat); err != nil {
		return countersign.HeartbeatAck{}, err
	}
	if err := core.Wrong(registry.CheckHeartbeat(h)); err != nil {
		s.Config.Metrics.Heartbeat(a.Tenant, "refused")
		return countersign.HeartbeatAck{}, err
	}
	b := &pendingHeartbeat{actor: a, agentID: agentID, heartbeat: h, at: s.Config.Now(), done: make(chan struct{})}
	s.enqueue(b)
	select {
	case <-b.done:
		return b.ack, core.Public(b.err)
	case <-ctx.Done(): // it may still be recorded; a retry is then a duplicate
		return countersign.HeartbeatAck{}, core.Public(ctx.Err())
	}
}

func (s *HeartbeatService) storeBatch(tx store.Tx, batch []*pendingHeartbeat) error {
	for _, b := range batch {
		b.ack, b.err = countersign.HeartbeatAck{}, nil
		if err := b.store(tx, s.Config.Quotas.Instances); err != nil {
			if countersign.ErrorCode(err) == countersign.CodeInternal {
				return err
			}
			b.err = err
		}
	}
	crashpoint.At("heartbeats.written", nil)
	return nil
}

// store checks one heartbeat and stores it.
func (p *pendingHeartbeat) store(tx store.Tx, most int) error {
	tenant := p.actor.Tenant
	if _, _, err := reach.Agent(tx, p.actor, p.agentID); err != nil {
		return err
	}
	id := records.InstanceRecordID(p.agentID, p.heartbeat.InstanceID)
	last, version, err := lastOf(tx, tenant, id)
	if err != nil {
		return err
	}
	next, duplicate, err := registry.Beat(last, p.heartbeat, p.at)
	if err != nil {
		return err
	}
	p.ack = countersign.HeartbeatAck{
		Acknowledged: true, Duplicate: duplicate, AgentID: p.agentID,
		InstanceID: next.InstanceID, Sequence: next.Sequence, ReceivedAt: next.ReceivedAt,
	}
	if duplicate {
		return nil
	}
	if last == nil {
		if err := checkInstanceLimit(tx, tenant, p.agentID, most, p.at); err != nil {
			return err
		}
	}
	_, err = records.Instances.Put(tx, tenant, id, &records.Instance{
		AgentID: p.agentID, InstanceID: next.InstanceID, Sequence: next.Sequence, State: next.State, Timestamp: next.Timestamp, ReceivedAt: next.ReceivedAt,
	}, version)
	return err
}

// lastOf returns the record of an instance; nil if it never sent a heartbeat.
func lastOf(tx store.Tx, tenant, id string) (*countersign.Instance, int64, error) {
	rec, version, err := records.Instances.Get(tx, tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	last := heardInstance(*rec)
	return &last, version, nil
}

// acknowledge adds each agent's liveness after the batch to the answers.
func (s *HeartbeatService) acknowledge(tx store.Tx, batch []*pendingHeartbeat) error {
	type key struct{ tenant, agent string }
	known := map[key]countersign.Liveness{}
	for _, b := range batch {
		if b.err != nil {
			continue
		}
		k := key{b.actor.Tenant, b.agentID}
		if _, done := known[k]; !done {
			is, _, err := livenessOf(tx, k.tenant, k.agent, s.Config.Now())
			if err != nil {
				return err
			}
			known[k] = is
		}
		b.ack.Liveness = known[k]
	}
	return nil
}
