package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// tolerance is the delay up to which a heartbeat doesn't count as late. With such delays the
// rate over a second is still reached.
const tolerance = 100 * time.Millisecond

// tally counts heartbeats by their outcome.
type tally struct {
	sent, accepted, late int
	latencies            []time.Duration // from the time at which it was due to the answer
	failed               error           // of the first heartbeat that was not accepted
}

func (t *tally) errors() int { return t.sent - t.accepted }

// volley sends n heartbeats of the instances in turn, one per interval however long the
// answers take. A heartbeat is sent late only if all senders wait for answers. Its latency
// counts from the time at which it was due, so that it includes this delay.
func (f *fleet) volley(p *product, n int, interval time.Duration) tally {
	var mu sync.Mutex
	var all tally
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range f.senders {
		wg.Go(func() {
			var mine tally
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				due := begin.Add(time.Duration(i) * interval)
				mine.send(p, f.instances[(f.turn+i)%len(f.instances)], due)
			}
			mu.Lock()
			defer mu.Unlock()
			all.add(mine)
		})
	}
	wg.Wait()
	f.turn += n
	return all
}

func (t *tally) send(p *product, i *instance, due time.Time) {
	time.Sleep(time.Until(due))
	if time.Since(due) > tolerance {
		t.late++
	}
	err := p.beat(i)
	t.latencies = append(t.latencies, time.Since(due))
	t.sent++
	if err == nil {
		t.accepted++
	} else if t.failed == nil {
		t.failed = err
	}
}

func (t *tally) add(o tally) {
	t.sent, t.accepted, t.late = t.sent+o.sent, t.accepted+o.accepted, t.late+o.late
	t.latencies = append(t.latencies, o.latencies...)
	if t.failed == nil {
		t.failed = o.failed
	}
}
