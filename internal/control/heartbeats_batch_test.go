package control_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
)

func newHeartbeat(instance string, sequence int64) countersign.Heartbeat {
	return countersign.Heartbeat{InstanceID: instance, Sequence: sequence, State: countersign.InstanceIdle, Timestamp: time.Now().Format(time.RFC3339Nano)}
}

// answer is what became of a heartbeat.
type answer struct {
	ack countersign.HeartbeatAck
	err error
}

// beats sends heartbeats at once and gives the answers in their order.
func (f *fixture) beats(agentID string, list ...countersign.Heartbeat) []answer {
	out := make([]answer, len(list))
	var wait sync.WaitGroup
	for i := range list {
		wait.Go(func() { out[i].ack, out[i].err = f.service.Heartbeat(background, as("acme"), agentID, list[i]) })
	}
	wait.Wait()
	return out
}

// beat sends a heartbeat that must be acknowledged, and says how long that took and how
// many commits.
func (f *fixture) beat(agentID string, b countersign.Heartbeat) (ack countersign.HeartbeatAck, took time.Duration, commits int64) {
	f.t.Helper()
	began, before := time.Now(), f.store.updates.Load()
	ack, err := f.service.Heartbeat(background, as("acme"), agentID, b)
	f.must(err)
	return ack, time.Since(began), f.store.updates.Load() - before
}

// longest is how long a heartbeat may wait for its commit.
const longest = 250 * time.Millisecond

// TestHeartbeatAloneIsCommittedAtOnce: only what comes soon after a commit waits,
// until the next one may be.
func TestHeartbeatAloneIsCommittedAtOnce(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("i-1", 0))
		_, interval, _ := h.beat(id, newHeartbeat("i-1", 1))
		if interval <= 0 || interval > longest {
			t.Fatalf("%s between two commits", interval)
		}
		for i, pause := range []time.Duration{time.Minute, interval * 6 / 5, interval + 1, 3 * interval} {
			later(pause)
			if _, took, commits := h.beat(id, newHeartbeat("i-1", int64(2+i))); took > 0 || commits != 1 {
				t.Errorf("%s after the last one it took %s and %d commits", pause, took, commits)
			}
		}
		later(interval / 4)
		if _, took, _ := h.beat(id, newHeartbeat("i-1", 9)); took != interval-interval/4 {
			t.Errorf("a quarter of %s after a commit it took %s", interval, took)
		}
		h.service.Close()
	})
}

// TestHeartbeatsAtOnceShareCommits: 300 of them take two, for no commit may keep
// the runs waiting long.
func TestHeartbeatsAtOnceShareCommits(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("first", 1)) // those that follow gather until the next commit
		var list []countersign.Heartbeat
		for i := range 300 {
			list = append(list, newHeartbeat("i-"+strconv.Itoa(i), 1))
		}
		began, before := time.Now(), h.store.updates.Load()
		for i, a := range h.beats(id, list...) {
			want := countersign.HeartbeatAck{Acknowledged: true, AgentID: id, InstanceID: list[i].InstanceID, Sequence: 1, ReceivedAt: began, Liveness: countersign.LivenessOnline}
			if a.err != nil || a.ack != want {
				t.Fatalf("%+v, %v", a.ack, a.err)
			}
		}
		if n := h.store.updates.Load() - before; n != 2 || time.Since(began) > 2*longest {
			t.Errorf("%d commits in %s", n, time.Since(began))
		}
		if a, err := h.service.Agent(background, as("acme"), id); err != nil || a.InstanceCount != 301 || len(a.Instances) != 301 {
			t.Errorf("%d instances, %d shown, %v", a.InstanceCount, len(a.Instances), err)
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
				if _, err := h.service.Heartbeat(background, as("acme"), id, newHeartbeat("i-"+strconv.Itoa(i), 1)); err != nil {
					t.Error(err)
				}
			})
			later(100 * time.Millisecond)
		}
		wait.Wait()
		if most, n := h.store.most, h.store.updates.Load()-before; most > 1 || n > 4 {
			t.Errorf("%d commits, %d of them at a time", n, most)
		}
		h.service.Close()
	})
}

// TestHeartbeatsLeaveTheWriterToTheRuns: where a commit takes long, the next one
// waits until eight times as long has passed.
func TestHeartbeatsLeaveTheWriterToTheRuns(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.store.sync = 50 * time.Millisecond
		began := time.Now()
		h.beat(id, newHeartbeat("i-1", 1))
		h.beat(id, newHeartbeat("i-1", 2))
		if took := time.Since(began); took != 9*h.store.sync {
			t.Errorf("two heartbeats took %s", took)
		}
		h.store.sync = 0
		h.beat(id, newHeartbeat("i-1", 3))
		if _, took, _ := h.beat(id, newHeartbeat("i-1", 4)); took > longest {
			t.Errorf("when commits are fast again it takes %s", took)
		}
		h.service.Close()
	})
}

// TestHeartbeatsKeepUpWhereTheWriterIsBusy: a commit that waits long for its turn is followed by
// the next one as soon as any. Otherwise a batch a second would be left to all instances, in an
// overload that isn't theirs, and they would be taken for dead.
func TestHeartbeatsKeepUpWhereTheWriterIsBusy(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.store.slow = 300 * time.Millisecond
		began, n := time.Now(), 3*256
		var list []countersign.Heartbeat
		for i := range n {
			list = append(list, newHeartbeat("i-"+strconv.Itoa(i), 1))
		}
		for _, a := range h.beats(id, list...) {
			if a.err != nil {
				t.Fatal(a.err)
			}
		}
		if took := time.Since(began); took > 4*h.store.slow { // a first one alone, and three batches
			t.Errorf("%d heartbeats took %s, where each commit waits %s for its turn", n, took, h.store.slow)
		}
		h.service.Close()
	})
}

// TestClosingWaitsForHeartbeats that were taken in.
func TestClosingWaitsForHeartbeats(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("i-1", 1))
		var got answer
		go func() { got.ack, got.err = h.service.Heartbeat(background, as("acme"), id, newHeartbeat("i-1", 2)) }()
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
			b := newHeartbeat("i-"+strconv.Itoa(i), 1)
			b.Timestamp = time.Now().Add(away).Format(time.RFC3339Nano)
			if _, took, _ := h.beat(id, b); took > longest {
				t.Errorf("set by %s it took %s", away, took)
			}
		}
		h.service.Close()
	})
}
