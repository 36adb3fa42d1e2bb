package runrepo

import (
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Each tenant has a share of the slots, so that none keeps all others waiting. A tenant
// that uses all of its share is refused even while a slot is free, and its queued runs are
// passed over.

// Share is how many slots a tenant may hold: as many as are set, else all with one tenant
// and all but one with more. It is at least one.
func Share(set, slots, tenants int) int {
	switch {
	case set > 0:
		return min(set, slots)
	case tenants > 1:
		return max(1, slots-1)
	default:
		return slots
	}
}

func (l *Repository) share(tx store.Tx) (int, error) {
	tenants, err := tx.Count(store.Tenants, store.Realm, store.Query{})
	return Share(l.cfg.MaxPerTenant, l.cfg.MaxActive, tenants), err
}

// Free is nil when the tenant may start a run in this mode now, else capacity.
func (l *Repository) Free(tx store.Tx, tenant, mode string) error {
	share, err := l.share(tx)
	if err != nil {
		return err
	}
	if mode == countersign.ModeLive {
		left, err := leftCalls(tx, tenant, l.cfg.Now())
		if err != nil {
			return err
		}
		if left >= countersign.MaxLeftCalls {
			return countersign.Errorf(countersign.CodeCapacity, "%d calls of cancelled runs of tenant %s may still be answered; try again when one of them has ended", left, tenant)
		}
	}
	if share < l.cfg.MaxActive {
		stopped, err := Stopped(tx, tenant)
		if err != nil {
			return err
		}
		holding := []any{records.Active, records.Queued}
		if stopped { // what is queued gets no slot
			holding = holding[:1]
		}
		taken, err := countOf(tx, tenant, holding...)
		if err != nil {
			return err
		}
		if taken >= share {
			return countersign.Errorf(countersign.CodeCapacity, "tenant %s has its share of the slots in use, %d of %d; try again when one of its runs has ended or waits", tenant, share, l.cfg.MaxActive)
		}
	}
	active, err := countStates(tx, records.Active)
	if err != nil {
		return err
	}
	first, err := l.next(tx, records.Unfinished{}, records.Unfinished{}) // queued runs go before new ones
	if err != nil {
		return err
	}
	if active+len(first) >= l.cfg.MaxActive {
		return countersign.Errorf(countersign.CodeCapacity, "no slot is free: %d of %d are in use; try again when a run has ended or waits", l.cfg.MaxActive, l.cfg.MaxActive)
	}
	return nil
}

// countOf counts a tenant's unfinished runs in these states.
func countOf(tx store.Tx, tenant string, states ...any) (int, error) {
	where := append(records.UnfinishedOf(tenant), store.Filter{Column: "state", Op: store.In, Values: states})
	return tx.Count(store.Unfinished, store.Realm, store.Query{Where: where})
}

// leftCalls counts a tenant's calls whose runs were cancelled and whose answers may still
// come. A cancel gives the slot back, but doesn't end a side effect that has begun: without
// a bound, alternate starts and cancels would hold ever more connections. A tenant with too
// many of them gets no slot; a cancel is never refused. It is exact from
// countersign.MaxLeftCalls on: which calls may still be answered is another question at each
// moment, and how many runs wait for a reconcile is one whose answer a store may know.
func leftCalls(tx store.Tx, tenant string, now time.Time) (int, error) {
	where := append(records.UnfinishedOf(tenant), store.Equal("state", records.Recovery))
	n, err := tx.Count(store.Unfinished, store.Realm, store.Query{Where: where})
	if err != nil || n < countersign.MaxLeftCalls {
		return n, err
	}
	where = append(where, store.Filter{Column: "due", Op: store.AtLeast, Values: []any{now.UnixMicro()}})
	return tx.Count(store.Unfinished, store.Realm, store.Query{Where: where})
}

// queue selects the queued runs that get a free slot, while one run's entry in the list
// changes from before to after, which isn't written yet.
type queue struct {
	tx            store.Tx
	now           time.Time
	before, after records.Unfinished
	free, share   int
	room          map[string]int // how many slots each tenant may still get, as far as known
	taken         []records.Unfinished
}

// take gives the oldest runs whose tenants may get a slot. Other tenants are left out of
// the next query, so that however many of their runs queue, the rest is found.
func (q *queue) take() ([]records.Unfinished, error) {
	for {
		found, err := q.oldest()
		if err != nil {
			return nil, err
		}
		full := false
		for _, u := range found {
			if len(q.taken) == q.free {
				return q.taken, nil
			}
			got, err := q.offer(u)
			if err != nil {
				return nil, err
			}
			full = full || !got
		}
		if !full {
			return q.taken, nil
		}
	}
}

// offer takes a run if its tenant may get a slot.
func (q *queue) offer(u records.Unfinished) (bool, error) {
	if slices.ContainsFunc(q.taken, func(t records.Unfinished) bool { return sameRun(t, u) }) {
		return true, nil
	}
	if _, known := q.room[u.TenantID]; !known {
		active, err := countOf(q.tx, u.TenantID, records.Active)
		if err != nil {
			return false, err
		}
		if q.before.State == records.Active && q.before.TenantID == u.TenantID {
			active--
		}
		left, err := leftCalls(q.tx, u.TenantID, q.now)
		if err != nil {
			return false, err
		}
		stopped, err := stands(q.tx, u.TenantID)
		if err != nil {
			return false, err
		}
		if q.room[u.TenantID] = max(0, q.share-active); left >= countersign.MaxLeftCalls || stopped {
			q.room[u.TenantID] = 0
		}
	}
	if q.room[u.TenantID] == 0 {
		return false, nil
	}
	q.room[u.TenantID]--
	q.taken = append(q.taken, u)
	return true, nil
}

// oldest reads as many queued runs as may be taken, of tenants that may get a slot.
func (q *queue) oldest() ([]records.Unfinished, error) {
	where := []store.Filter{store.Equal("state", records.Queued)}
	without := func(tenant string) bool { room, known := q.room[tenant]; return known && room == 0 }
	if slices.ContainsFunc(slices.Collect(maps.Keys(q.room)), without) {
		rows, err := q.tx.List(store.Tenants, store.Realm, store.Query{})
		if err != nil {
			return nil, err
		}
		others := store.Filter{Column: "tenant_id", Op: store.In}
		for _, row := range rows {
			if !without(row.ID) {
				others.Values = append(others.Values, row.ID)
			}
		}
		where = append(where, others)
	}
	found, err := records.ListUnfinished(q.tx, store.Query{Where: where, Order: []store.Order{{Column: "since"}}, Limit: q.free + 1})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(u records.Unfinished) bool { return sameRun(u, q.before) })
	if q.after.State == records.Queued && !without(q.after.TenantID) {
		found = append(found, q.after)
		slices.SortStableFunc(found, earlier)
	}
	return found, nil
}
