package control

import (
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/store"
)

// Heartbeats come by the thousand and none of them is urgent, but none may be
// acknowledged before its sequence is durable, or a crash would let the sequence be used
// again. Heartbeats that arrive close together share one commit, so that runs wait for a
// few commits a second, however many agents there are.
const (
	beatInterval = 50 * time.Millisecond  // least time between two commits
	beatSpread   = 25 * time.Millisecond  // plus this for each heartbeat of the last commit
	beatWindow   = 250 * time.Millisecond // most time between two commits, unless commits are slow
	beatsAtOnce  = 256                    // most heartbeats in a commit, so that runs don't wait long
	beatShare    = 8                      // heartbeats take at most 1/8 of the writer's time
	beatPatience = time.Second            // most time between two commits, however slow they are
)

// beat is a heartbeat that waits for its commit.
type beat struct {
	actor     Actor
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
	mu       sync.Mutex
	waiting  []*beat
	flushing bool
	last     time.Time     // when the latest commit began
	took     time.Duration // its duration
	together int           // its number of heartbeats
}

func (s *Service) join(b *beat) {
	p := &s.heartbeats
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, b)
	if !p.flushing {
		p.flushing = true
		s.chores.Go(s.flush)
	}
}

// flush commits waiting heartbeats until there are none. A single one is committed at once.
func (s *Service) flush() {
	for {
		time.Sleep(s.heartbeats.pause(s.cfg.Now()))
		batch := s.heartbeats.take(s.cfg.Now())
		if len(batch) == 0 {
			return
		}
		s.takeIn(batch)
	}
}

func (p *heartbeatBatcher) pause(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	interval := min(max(beatInterval, time.Duration(p.together)*beatSpread), beatWindow)
	interval = min(max(interval, beatShare*p.took), beatPatience)
	return min(p.last.Add(interval).Sub(now), interval) // a clock that is set back doesn't delay them
}

func (p *heartbeatBatcher) take(now time.Time) []*beat {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.waiting), beatsAtOnce)
	batch := p.waiting[:n:n]
	p.waiting = p.waiting[n:]
	p.flushing = n > 0
	if n > 0 {
		p.last, p.together = now, n
	}
	return batch
}

// takeIn commits a batch, and reads the liveness for the answers only afterwards, so that
// the writer is free. Each heartbeat is checked on its own; only an error of the store
// fails all of them. If the liveness of a durable heartbeat can't be read, its sender gets
// an error and sends it again, as a duplicate.
func (s *Service) takeIn(batch []*beat) {
	began := time.Now()
	err := s.store.Update(context.Background(), func(tx store.Tx) error { return s.judge(tx, batch) })
	s.heartbeats.note(time.Since(began))
	crashpoint.At("heartbeats.committed", nil)
	if err == nil {
		err = s.store.View(context.Background(), func(tx store.Tx) error { return s.acknowledge(tx, batch) })
	}
	for _, b := range batch {
		if err != nil {
			b.err = err
		}
		s.cfg.Figures.Heartbeat(b.actor.Tenant, b.became())
		close(b.done)
	}
}

func (p *heartbeatBatcher) note(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took = took
}

// became is the result that the figures count a heartbeat under (contract 9).
func (b *beat) became() string {
	switch {
	case b.err != nil:
		return "refused"
	case b.ack.Duplicate:
		return "duplicate"
	default:
		return "accepted"
	}
}
