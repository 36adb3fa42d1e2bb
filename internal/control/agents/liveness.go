package agents

import (
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// instanceStates are the states that a heartbeat may report.
var instanceStates = []countersign.InstanceState{countersign.InstanceIdle, countersign.InstanceBusy, countersign.InstanceError}

// maxInstances is how many instances a read of an agent shows; settings may allow more.
const maxInstances = 1000

// livenessOf derives an agent's liveness from the newest heartbeat in each
// state: three index reads, however many instances it has.
func livenessOf(tx store.Tx, tenant, agentID string, now time.Time) (countersign.Liveness, time.Time, error) {
	evidence := registry.Evidence{}
	for _, state := range instanceStates {
		newest, err := lastHeard(tx, tenant, agentID, state, 1)
		if err != nil {
			return "", time.Time{}, err
		}
		if len(newest) > 0 {
			evidence[state] = newest[0].ReceivedAt
		}
	}
	is, heard := registry.Liveness(evidence, now)
	return is, heard, nil
}

// lastHeard lists an agent's instances in a state by their last heartbeat, newest first.
func lastHeard(tx store.Tx, tenant, agentID string, state countersign.InstanceState, limit int) ([]records.Instance, error) {
	return records.Instances.List(tx, tenant, store.Query{
		Where: []store.Filter{store.Equal("agent", agentID), store.Equal("state", string(state))},
		Order: []store.Order{{Column: "received", Descending: true}}, Limit: limit,
	})
}

// instancesOf lists an agent's instances by their last heartbeat, newest first, and counts
// all of them.
func instancesOf(tx store.Tx, tenant, agentID string, now time.Time) ([]countersign.Instance, int, error) {
	list := []countersign.Instance{}
	for _, state := range instanceStates {
		of, err := lastHeard(tx, tenant, agentID, state, maxInstances)
		if err != nil {
			return nil, 0, err
		}
		for _, i := range of {
			list = append(list, shownInstance(i, now))
		}
	}
	slices.SortStableFunc(list, func(a, b countersign.Instance) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
	total, err := tx.Count(store.Instances, tenant, store.Query{Where: []store.Filter{store.Equal("agent", agentID)}})
	return list[:min(len(list), maxInstances)], total, err
}

func shownInstance(i records.Instance, now time.Time) countersign.Instance {
	out := heardInstance(i)
	out.Liveness = registry.InstanceLiveness(out, now)
	return out
}

func heardInstance(i records.Instance) countersign.Instance {
	return countersign.Instance{InstanceID: i.InstanceID, Sequence: i.Sequence, State: i.State, Timestamp: i.Timestamp, ReceivedAt: i.ReceivedAt}
}
