package abuse

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestSlowAndIdleConnectionsLeaveOthersServed: a third of the connections sends nothing, a third sends headers
// or body byte by byte, a third was answered once and stays open. A connection that is closed is opened again
// a second later.
func TestSlowAndIdleConnectionsLeaveOthersServed(t *testing.T) {
	v := serve(t, 0)
	alone := v.measure(t)
	crowd := v.crowd(*connections)
	harness.Until(t, "the crowd", func() bool { return crowd.came.Load() >= int64(*connections) })
	beside := v.measure(t)
	_, most := v.resident(t)
	heap := v.spent(t).heap >> 20
	t.Logf("alone p50 %s, p99 %s of %d; beside %d connections p50 %s, p99 %s of %d; %d MiB at most, a heap of %d; %d came back",
		alone.p50, alone.p99, alone.n, crowd.open.Load(), beside.p50, beside.p99, beside.n, most, heap, crowd.closed.Load())
	crowd.leave()
	if *doubled && beside.p99 > 2*alone.p99 {
		t.Errorf("others' p99 rose from %s to %s", alone.p99, beside.p99)
	}
	if bound := 120 + *connections/20; heap > bound || most > bound*perByte { // 50 KiB for each connection
		t.Errorf("the process had %d MiB, a heap of %d, more than %d", most, heap, bound)
	}
}

// figures are latencies of well-behaved callers.
type figures struct {
	n        int
	p50, p99 time.Duration
}

// enough is how many requests each of four callers makes, all of which must be answered; with -doubled the
// callers continue for a phase.
const enough = 30

// measure lets four callers read, simulate and list, each one request after the other.
func (v *victim) measure(t *testing.T) figures {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var callers sync.WaitGroup
	until := time.Now()
	if *doubled {
		until = until.Add(*phase)
	}
	for range 4 {
		callers.Go(func() {
			var own []time.Duration
			pace := time.NewTicker(4 * time.Millisecond) // more requests would delay each other
			defer pace.Stop()
			for n := 0; (n < enough || time.Now().Before(until)) && !t.Failed(); n++ {
				began := time.Now()
				switch n % 3 {
				case 0:
					v.operator.Get("/models/refund").OK(t)
				case 1:
					v.operator.Post("/models/refund/simulate", doc{"scenarioId": "small"}).OK(t)
				default:
					v.operator.Get("/runs?status=COMPLETED").OK(t)
				}
				own = append(own, time.Since(began))
				<-pace.C
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	callers.Wait()
	slices.Sort(all)
	if len(all) < 4*enough {
		t.Fatalf("%d answers", len(all))
	}
	return figures{len(all), all[len(all)/2].Round(10 * time.Microsecond), all[len(all)*99/100].Round(10 * time.Microsecond)}
}

// crowd is many open connections.
type crowd struct {
	came         atomic.Int64 // number of connections made
	open, closed atomic.Int64
	dialling     chan struct{} // bounds concurrent dials, since the kernel's accept queue is short
	end          chan struct{}
	all          sync.WaitGroup
}

// crowd opens n connections and keeps them open.
func (v *victim) crowd(n int) *crowd {
	c := &crowd{end: make(chan struct{}), dialling: make(chan struct{}, 64)}
	for i := range n {
		c.all.Go(func() {
			for !c.left() {
				c.stay(v, i)
			}
		})
	}
	return c
}

func (c *crowd) left() bool {
	select {
	case <-c.end:
		return true
	default:
		return false
	}
}

// stay is the life of one connection.
func (c *crowd) stay(v *victim, i int) {
	hello := []string{"", "POST /v1/models/refund/validate HTTP/1.1\r\nHost: x\r\nX-Slow: ", "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"}[i%3]
	if i%6 == 1 {
		hello = fmt.Sprintf("POST /v1/models/refund/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\n", v.operator.Token())
	}
	c.dialling <- struct{}{}
	conn, err := v.dial(hello)
	<-c.dialling
	if err != nil {
		return
	}
	defer c.rest()
	defer func() { _ = conn.Close() }()
	c.came.Add(1)
	c.open.Add(1)
	defer c.open.Add(-1)
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, conn) // until the service closes it
		close(gone)
	}()
	c.trickle(conn, i%3 == 1, gone)
	_ = conn.Close()
	<-gone
}

// trickle sends a byte at intervals until the connection is closed.
func (c *crowd) trickle(conn net.Conn, sends bool, gone <-chan struct{}) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if sends {
				_, _ = conn.Write([]byte("a"))
			}
		case <-gone:
			c.closed.Add(1)
			return
		case <-c.end:
			return
		}
	}
}

// rest is the pause before a closed connection is opened again.
func (c *crowd) rest() {
	select {
	case <-time.After(time.Second):
	case <-c.end:
	}
}

func (c *crowd) leave() {
	close(c.end)
	c.all.Wait()
}
