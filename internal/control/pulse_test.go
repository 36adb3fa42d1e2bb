package control_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

func beat(instance string, sequence int64) countersign.Heartbeat {
	return countersign.Heartbeat{InstanceID: instance, Sequence: sequence, State: countersign.InstanceIdle, Timestamp: time.Now().Format(time.RFC3339Nano)}
}

// answer is what became of a heartbeat.
type answer struct {
	ack countersign.HeartbeatAck
	err error
}

// beats sends heartbeats at once and gives the answers in their order.
func (h *house) beats(agentID string, list ...countersign.Heartbeat) []answer {
	out := make([]answer, len(list))
	var wait sync.WaitGroup
	for i := range list {
		wait.Go(func() { out[i].ack, out[i].err = h.service.Heartbeat(background, as("acme"), agentID, list[i]) })
	}
	wait.Wait()
	return out
}

// beat sends one that must be acknowledged, and says how long that took and how
// many commits.
func (h *house) beat(agentID string, b countersign.Heartbeat) (ack countersign.HeartbeatAck, took time.Duration, commits int64) {
	h.t.Helper()
	began, before := time.Now(), h.store.updates.Load()
	ack, err := h.service.Heartbeat(background, as("acme"), agentID, b)
	h.must(err)
	return ack, time.Since(began), h.store.updates.Load() - before
}

// longest is how long a heartbeat may wait for its commit.
const longest = 100 * time.Millisecond

// TestHeartbeatAloneIsCommittedAtOnce: only what comes soon after a commit waits,
// until the next one may be.
func TestHeartbeatAloneIsCommittedAtOnce(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, beat("i-1", 0))
		_, interval, _ := h.beat(id, beat("i-1", 1))
		if interval <= 0 || interval > longest {
			t.Fatalf("%s between two commits", interval)
		}
		for i, pause := range []time.Duration{time.Minute, interval * 6 / 5, interval + 1, 3 * interval} {
			later(pause)
			if _, took, commits := h.beat(id, beat("i-1", int64(2+i))); took > 0 || commits != 1 {
				t.Errorf("%s after the last one it took %s and %d commits", pause, took, commits)
			}
		}
		later(interval / 4)
		if _, took, _ := h.beat(id, beat("i-1", 9)); took != interval-interval/4 {
			t.Errorf("a quarter of %s after a commit it took %s", interval, took)
		}
		h.service.Close()
	})
}

// TestHeartbeatsAtOnceShareCommits: 300 of them take three commits at most.
func TestHeartbeatsAtOnceShareCommits(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		var list []countersign.Heartbeat
		for i := range 300 {
			list = append(list, beat("i-"+strconv.Itoa(i), 1))
		}
		began, before := time.Now(), h.store.updates.Load()
		for i, a := range h.beats(id, list...) {
			want := countersign.HeartbeatAck{Acknowledged: true, AgentID: id, InstanceID: list[i].InstanceID, Sequence: 1, ReceivedAt: began, Liveness: countersign.LivenessOnline}
			if a.err != nil || a.ack != want {
				t.Fatalf("%+v, %v", a.ack, a.err)
			}
		}
		if n := h.store.updates.Load() - before; n > 3 || time.Since(began) > 2*longest {
			t.Errorf("%d commits in %s", n, time.Since(began))
		}
		if a, err := h.service.Agent(background, as("acme"), id); err != nil || a.InstanceCount != 300 || len(a.Instances) != 300 {
			t.Errorf("%d instances, %d shown, %v", a.InstanceCount, len(a.Instances), err)
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
		list := []countersign.Heartbeat{beat("i-1", 1), beat("i-2", 1), beat("i-3", 1)}
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

// TestEachHeartbeatOfABatchIsJudgedByItself, against what those before it left.
func TestEachHeartbeatOfABatchIsJudgedByItself(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, beat("old", 5)) // what follows waits for the next commit, together
		before, again := h.store.updates.Load(), beat("twin", 1)
		got := map[string]int{}
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i, b := range []countersign.Heartbeat{beat("old", 4), beat("new", 1), again, again, again, {InstanceID: "late", Sequence: 1, State: "IDLE", Timestamp: "2020-01-01T00:00:00Z"}} {
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
		for i, a := range append(h.beats(id, beat("i-1", 1), beat("i-2", 1)), h.beats(id, beat("i-1", 2))...) {
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
		if _, _, commits := h.beat(clerk("a"), beat("i-1", 1)); commits != 2 {
			t.Errorf("%d commits", commits)
		}
		h.service.Close()
	})
}

// TestOneCommitOfHeartbeatsAtATime: while it lasts, they gather for the next one.
func TestOneCommitOfHeartbeatsAtATime(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.store.slow = time.Second
		before := h.store.updates.Load()
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				if _, err := h.service.Heartbeat(background, as("acme"), id, beat("i-"+strconv.Itoa(i), 1)); err != nil {
					t.Error(err)
				}
			})
			later(longest)
		}
		wait.Wait()
		if most, n := h.store.most, h.store.updates.Load()-before; most > 1 || n > 4 {
			t.Errorf("%d commits, %d of them at a time", n, most)
		}
		h.service.Close()
	})
}

// TestCallerThatLeavesMaySendAgain: its heartbeat may count all the same.
func TestCallerThatLeavesMaySendAgain(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, beat("i-1", 1))
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		b := beat("i-1", 2)
		_, err := h.service.Heartbeat(ctx, as("acme"), id, b)
		wantCode(t, err, countersign.CodeUnavailable)
		if ack, _, _ := h.beat(id, b); !ack.Duplicate {
			t.Errorf("%+v", ack)
		}
		h.service.Close()
	})
}

// TestClosingWaitsForHeartbeats that were taken in.
func TestClosingWaitsForHeartbeats(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, beat("i-1", 1))
		var got answer
		go func() { got.ack, got.err = h.service.Heartbeat(background, as("acme"), id, beat("i-1", 2)) }()
		synctest.Wait()
		h.service.Close()
		synctest.Wait()
		if got.err != nil || got.ack.Sequence != 2 {
			t.Errorf("%+v, %v", got.ack, got.err)
		}
	})
}

// A clock that is set back or forward holds no heartbeat up.
func TestClockThatIsSetDoesNotHoldHeartbeatsUp(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		for i, away := range []time.Duration{0, -time.Hour, time.Hour} {
			later(longest)
			h.clock.Store(int64(away))
			b := beat("i-"+strconv.Itoa(i), 1)
			b.Timestamp = time.Now().Add(away).Format(time.RFC3339Nano)
			if _, took, _ := h.beat(id, b); took > longest {
				t.Errorf("set by %s it took %s", away, took)
			}
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
		first := beat("i-1", 2)
		h.beats(id, first)
		h.beats(id, first, beat("i-1", 1), beat("i-1", 0))
		want := map[string]map[string]float64{"acme": {"accepted": 1, "duplicate": 1, "refused": 2}, "beta": {"accepted": 0, "duplicate": 0, "refused": 0}}
		for tenant, figures := range want {
			for is, n := range figures {
				if got := h.figure(as(tenant), "countersign_heartbeats", is); got != n {
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

func (h *house) figure(a control.Actor, name, is string) float64 {
	h.t.Helper()
	figures, err := h.service.Metrics(background, a)
	h.must(err)
	for _, f := range figures {
		if f.Name == name && f.Is == is {
			return f.Value
		}
	}
	h.t.Fatalf("there is no figure %s %s", name, is)
	return 0
}
