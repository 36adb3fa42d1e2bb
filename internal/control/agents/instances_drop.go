package agents

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// An instance without a heartbeat for 30 days is deleted together with its sequence. After
// that, a replayed heartbeat is refused for its old timestamp.

// DropEvery is the interval between searches for such instances.
const DropEvery = time.Hour

// dropsAtOnce bounds the deletions in one commit, so that runs don't wait long.
const dropsAtOnce = 500

// DropInstances deletes such instances of every tenant.
func (s *HeartbeatService) DropInstances(ctx context.Context) {
	err := s.dropAll(ctx)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("can't delete instances without a recent heartbeat", "error", err)
	}
}

func (s *HeartbeatService) dropAll(ctx context.Context) error {
	return s.Config.Unreadable.EachTenant(ctx, s.Store, "instances", func(tenant string) error {
		var agents []store.Row
		err := s.Store.View(ctx, func(tx store.Tx) (err error) {
			agents, err = tx.List(store.Agents, tenant, store.Query{})
			return err
		})
		for i := 0; err == nil && i < len(agents); {
			var more bool
			if more, err = s.drop(ctx, tenant, agents[i].ID); !more {
				i++
			}
		}
		return err
	})
}

// drop deletes some of an agent's instances and reports whether there may be more. It
// opens a write transaction only if there is something to delete.
func (s *HeartbeatService) drop(ctx context.Context, tenant, agentID string) (more bool, err error) {
	before := s.Config.Now().Add(-countersign.InstanceLife)
	var old []store.Row
	err = s.Store.View(ctx, func(tx store.Tx) (err error) {
		old, err = unheard(tx, tenant, agentID, before)
		return err
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	return len(old) == dropsAtOnce, s.Store.Update(ctx, func(tx store.Tx) error {
		_, err := dropUnheard(tx, tenant, agentID, before)
		return err
	})
}

// unheard lists some of an agent's instances whose last heartbeat came at or before a time.
func unheard(tx store.Tx, tenant, agentID string, before time.Time) (old []store.Row, err error) {
	for _, state := range instanceStates {
		rows, err := tx.List(store.Instances, tenant, store.Query{
			Where: []store.Filter{store.Equal("agent", agentID), store.Equal("state", string(state)), {Column: "received", Op: store.AtMost, Values: []any{before.UnixMicro()}}},
			Order: []store.Order{{Column: "received"}}, Limit: dropsAtOnce - len(old),
		})
		if err != nil {
			return nil, err
		}
		if old = append(old, rows...); len(old) == dropsAtOnce {
			break
		}
	}
	return old, nil
}

func dropUnheard(tx store.Tx, tenant, agentID string, before time.Time) (dropped int, err error) {
	old, err := unheard(tx, tenant, agentID, before)
	for i := 0; err == nil && i < len(old); i++ {
		err = records.Instances.Delete(tx, tenant, old[i].ID)
	}
	return len(old), err
}

// checkInstanceLimit refuses an instance beyond the agent's limit. It deletes instances that
// are due for deletion first.
func checkInstanceLimit(tx store.Tx, tenant, agentID string, most int, now time.Time) error {
	count, err := tx.Count(store.Instances, tenant, store.Query{Where: []store.Filter{store.Equal("agent", agentID)}})
	if err != nil || count < most {
		return err
	}
	dropped, err := dropUnheard(tx, tenant, agentID, now.Add(-countersign.InstanceLife))
	if err != nil || count-dropped < most {
		return err
	}
	return quota.Exceeded("agent "+agentID, most, "instances", "keep the instanceId of a process over its restarts; one that is not heard for 30 days is dropped")
}
