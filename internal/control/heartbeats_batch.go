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
// acknowledged before its sequence is durable: a crash must not let it be used
// again. So those that arrive within a beat of each other share one commit, and
// the runs beside them pay for a few commits a second, however many agents live.
const (
	beatInterval = 50 * time.Millisecond  // between two commits at least
	beatSpread   = 25 * time.Millisecond  // and for each that the last one took in: many wait longer, for they share more
	beatWindow   = 250 * time.Millisecond // but no longer than this
	beatsAtOnce  = 256                    // in one commit, so that no run waits long for its turn
	beatShare    = 8                      // at most one part in so many of the writer's time
	beatPatience = time.Second            // but however slow that is, they never wait longer
)

// beat is one heartbeat on its way to the store.
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
	took     time.Duration // how long it took
	together int           // and how many it took in
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

// flush commits what waits until nothing does. One that comes alone is committed
// at once.
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
	return min(p.last.Add(interval).Sub(now), interval) // a clock set back doesn't hold them up
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

// takeIn commits a batch and only then reads what the answers say of liveness:
// the runs wait for the writer, not for that. Each heartbeat is judged by itself;
// only the store can fail them all. One that is durable but whose liveness can't
// be read is sent again, as a duplicate.
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

// became is how a heartbeat is counted: nothing else keeps it (contract 9).
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
