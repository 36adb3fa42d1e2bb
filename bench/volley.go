package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// tolerance is how far behind its time a heartbeat may be sent without counting
// as late: the rate over a second is still right.
const tolerance = 100 * time.Millisecond

// tally is what became of many heartbeats.
type tally struct {
	sent, accepted, late int
	latencies            []time.Duration // from the time that was due to the answer
	failed               error           // the first that was not accepted
}

func (t *tally) errors() int { return t.sent - t.accepted }

// volley sends n heartbeats, one each interval whatever the answers take, of the
// instances in turn. Only when all senders wait for answers does one go out late;
// its latency counts from when it was due, so that no wait is left out.
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
