package control_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestEachHeartbeatOfABatchIsJudgedByItself, against what those before it left.
func TestEachHeartbeatOfABatchIsJudgedByItself(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("old", 5)) // what follows waits for the next commit, together
		before, again := h.store.updates.Load(), newHeartbeat("twin", 1)
		got := map[string]int{}
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i, b := range []countersign.Heartbeat{newHeartbeat("old", 4), newHeartbeat("new", 1), again, again, again, {InstanceID: "late", Sequence: 1, State: "IDLE", Timestamp: "2020-01-01T00:00:00Z"}} {
			wait.Go(func() {
				agentID := id
				if i == 1 {
					agentID = "agent-nobody"
				}
				ack, err := h.service.Heartbeat(background, as("acme"), agentID, b)
				mu.Lock()
				defer mu.Unlock()
				got[fmt.Sprintf("%s %s %v", b.InstanceID, countersign.ErrorCode(err), ack.Duplicate)]++
			})
		}
		wait.Wait()
		for what, n := range map[string]int{"old sequence_conflict false": 1, "new not_found false": 1, "twin  false": 1, "twin  true": 2, "late invalid_request false": 1} {
			if got[what] != n {
				t.Errorf("%s: %d times, want %d", what, got[what], n)
			}
		}
		if n := h.store.updates.Load() - before; n != 1 {
			t.Errorf("%d commits", n)
		}
		h.service.Close()
	})
}

// An engine may run a transaction again: a heartbeat must not find itself there.
func TestHeartbeatIsNoDuplicateOfItself(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		h.store.twice = true
		id := h.sync(item("a"))[0]
		for i, a := range append(h.beats(id, newHeartbeat("i-1", 1), newHeartbeat("i-2", 1)), h.beats(id, newHeartbeat("i-1", 2))...) {
			if a.err != nil || a.ack.Duplicate {
				t.Errorf("%d: %+v, %v", i, a.ack, a.err)
			}
		}
		h.service.Close()
	})
}

// Nor may it keep a refusal of the first time.
func TestHeartbeatIsAnsweredByWhatWasCommitted(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		h.store.between = func() { h.sync(item("a")) }
		if _, _, commits := h.beat(clerk("a"), newHeartbeat("i-1", 1)); commits != 2 {
			t.Errorf("%d commits", commits)
		}
		h.service.Close()
	})
}

// TestCallerThatLeavesMaySendAgain: its heartbeat may count all the same.
func TestCallerThatLeavesMaySendAgain(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("i-1", 1))
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		b := newHeartbeat("i-1", 2)
		_, err := h.service.Heartbeat(ctx, as("acme"), id, b)
		wantCode(t, err, countersign.CodeUnavailable)
		if ack, _, _ := h.beat(id, b); !ack.Duplicate {
			t.Errorf("%+v", ack)
		}
		h.service.Close()
	})
}

// TestNoHeartbeatIsAcknowledgedThatIsNotDurable: when the store can't write, all
// that wait fail, none of their sequences is used, and the next ones succeed.
func TestNoHeartbeatIsAcknowledgedThatIsNotDurable(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		list := []countersign.Heartbeat{newHeartbeat("i-1", 1), newHeartbeat("i-2", 1), newHeartbeat("i-3", 1)}
		before := h.everything(tenants...)
		h.store.full.Store(true)
		for _, a := range h.beats(id, list...) {
			if countersign.ErrorCode(a.err) != countersign.CodeUnavailable || a.ack.Acknowledged {
				t.Errorf("%+v, %v", a.ack, a.err)
			}
		}
		h.store.full.Store(false)
		if h.everything(tenants...) != before {
			t.Error("something was stored")
		}
		for _, a := range h.beats(id, list...) {
			if a.err != nil || a.ack.Duplicate {
				t.Errorf("%+v, %v", a.ack, a.err)
			}
		}
		h.service.Close()
	})
}

// losing is a store whose commits are lost after their functions have run.
type losing struct{ store.Store }

func (l losing) Update(ctx context.Context, fn func(store.Tx) error) error {
	_ = l.Store.Update(ctx, func(tx store.Tx) error { return errors.Join(store.ErrUnavailable, fn(tx)) })
	return store.ErrUnavailable
}

// TestNoHeartbeatIsAcknowledgedWhoseCommitIsLost: it was judged, and nothing of it is kept.
func TestNoHeartbeatIsAcknowledgedWhoseCommitIsLost(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.service = h.on(losing{h.store})
		for _, a := range h.beats(id, newHeartbeat("i-1", 1), newHeartbeat("i-2", 1)) {
			wantCode(t, a.err, countersign.CodeUnavailable)
		}
		h.service.Close()
	})
}

// TestHeartbeatsAreCounted for their tenant, and that is all that is kept of one
// that is refused.
func TestHeartbeatsAreCounted(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		records := len(h.log("acme", 0))
		first := newHeartbeat("i-1", 2)
		h.beats(id, first)
		h.beats(id, first, newHeartbeat("i-1", 1), newHeartbeat("i-1", 0))
		viewer := as("acme")
		viewer.Roles = []countersign.Role{countersign.RoleViewer}
		wantCode(t, h.service.Authorize(background, viewer, access.SendHeartbeat, "agent/"+id), countersign.CodeRoleRequired)
		want := map[string]map[string]float64{"acme": {"accepted": 1, "duplicate": 1, "refused": 3}, "beta": {"accepted": 0, "duplicate": 0, "refused": 0}}
		for tenant, figures := range want {
			for is, n := range figures {
				if got := h.figure(as(tenant), "countersign_heartbeats_total", is); got != n {
					t.Errorf("%s of %s: %v, want %v", is, tenant, got, n)
				}
			}
		}
		if n := len(h.log("acme", 0)); n != records {
			t.Errorf("%d audit records of heartbeats", n-records)
		}
		h.service.Close()
	})
}

func (f *fixture) figure(a control.Actor, name, is string) float64 {
	f.t.Helper()
	figures, err := f.service.Metrics(background, a)
	f.must(err)
	byLabel, _ := figures.Object()[name].(map[string]any)
	value, there := byLabel[is].(float64)
	if !there {
		f.t.Fatalf("there is no figure %s %s", name, is)
	}
	return value
}
