package agents

import (
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/store"
)

// A heartbeat is acknowledged only when its sequence is durable; otherwise a crash would let
// the sequence be used again. Heartbeats that arrive close together share one commit, so
// that runs wait for a few commits a second, however many agents there are.
const (
	minCommitInterval    = 50 * time.Millisecond
	intervalPerHeartbeat = 25 * time.Millisecond  // the interval is at least this for each heartbeat of the last commit
	maxCommitInterval    = 250 * time.Millisecond // unless commits are slow
	maxBatch             = 256                    // bounds how long runs wait for the commit
	writerShare          = 8                      // heartbeats take at most 1/8 of the writer's time
	maxSlowInterval      = time.Second            // however slow commits are
)

// pendingHeartbeat is a heartbeat that waits for its commit.
type pendingHeartbeat struct {
	actor     core.Actor
	agentID   string
	heartbeat countersign.Heartbeat
	at        time.Time // when it arrived

	// Set by the flush, before done is closed.
	ack  countersign.HeartbeatAck
	err  error
	done chan struct{}
}

// heartbeatBatcher gathers heartbeats. While any wait, one goroutine commits them.
type heartbeatBatcher struct {
	mu      sync.Mutex
	waiting []*pendingHeartbeat
	running bool
	last    time.Time     // start of the latest commit
	took    time.Duration // how long the latest commit had the writer
	size    int           // heartbeats in the latest commit
}

func (s *HeartbeatService) enqueue(b *pendingHeartbeat) {
	p := &s.batcher
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, b)
	if !p.running {
		p.running = true
		s.Background.Go(s.commitHeartbeats)
	}
}

// commitHeartbeats commits waiting heartbeats until there are none. A single one is
// committed at once.
func (s *HeartbeatService) commitHeartbeats() {
	for {
		time.Sleep(s.batcher.pause(s.Config.Now()))
		batch := s.batcher.next(s.Config.Now())
		if len(batch) == 0 {
			return
		}
		s.commitBatch(batch)
	}
}

func (h *heartbeatBatcher) pause(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	interval := min(max(minCommitInterval, time.Duration(h.size)*intervalPerHeartbeat), maxCommitInterval)
	interval = min(max(interval, writerShare*h.took), maxSlowInterval)
	return min(h.last.Add(interval).Sub(now), interval) // a clock that is set back doesn't delay them
}

func (h *heartbeatBatcher) next(now time.Time) []*pendingHeartbeat {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(h.waiting), maxBatch)
	batch := h.waiting[:n:n]
	h.waiting = h.waiting[n:]
	h.running = n > 0
	if n > 0 {
		h.last, h.size = now, n
	}
	return batch
}

// commitBatch commits a batch. It reads the liveness for the answers after the commit, so
// that it doesn't hold the writer. Each heartbeat is checked on its own; only an error of
// the store fails the whole batch. If the liveness of a durable heartbeat can't be read, its
// sender gets an error and sends it again, as a duplicate.
func (s *HeartbeatService) commitBatch(batch []*pendingHeartbeat) {
	began := time.Now()
	err := s.Store.Update(context.Background(), func(tx store.Tx) error {
		began = time.Now() // what it waited for its turn is no time that it keeps the writer from others
		return s.storeBatch(tx, batch)
	})
	s.batcher.committed(time.Since(began))
	crashpoint.At("heartbeats.committed", nil)
	if err == nil {
		err = s.Store.View(context.Background(), func(tx store.Tx) error { return s.acknowledge(tx, batch) })
	}
	for _, b := range batch {
		if err != nil {
			b.err = err
		}
		s.Config.Metrics.Heartbeat(b.actor.Tenant, b.result())
		close(b.done)
	}
}

func (h *heartbeatBatcher) committed(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took = took
}

// result is the label under which the metrics count a heartbeat (contract 9).
func (p *pendingHeartbeat) result() string {
	switch {
	case p.err != nil:
		return "refused"
	case p.ack.Duplicate:
		return "duplicate"
	default:
		return "accepted"
	}
}
