package abuse

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// send sends a hostile request with the necessary role, and checks the size of the answer.
func (v *victim) send(t *testing.T, h hostile) {
	t.Helper()
	by := v.Admin
	for _, part := range []string{"/plans", "/models", "/sync", "/teams"} {
		if strings.Contains(h.path, part) {
			by = v.operator
		}
	}
	if a := by.Do(h.method, h.path, h.body); len(a.Raw) > 4<<20 {
		t.Errorf("%s: an answer of %d bytes", h.name, len(a.Raw))
	}
}

// honest is the mean CPU time, in seconds, of a valid plan of a mebibyte.
func (v *victim) honest(t *testing.T) float64 {
	t.Helper()
	const times = 8
	plan := doc{"name": "honest", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": numbered(60, func(i int) any {
		return doc{"id": fmt.Sprintf("s%d", i), "name": "n", "projectId": "default-shop", "capability": "note", "input": doc{"text": strings.Repeat("i", 15<<10)}}
	})}
	before := v.spent(t)
	for range times {
		v.operator.Post("/plans", plan).OK(t)
	}
	return (v.spent(t).cpu - before.cpu) / times
}

// beside counts the requests of another caller, sent one after the other.
type beside struct {
	answered atomic.Int64 // requests that began and ended during a hostile one
	hostile  atomic.Int64 // odd during a hostile request
	end      chan struct{}
	all      sync.WaitGroup
}

// few is how many requests the other caller sends during each hostile one. Their cost is counted with
// it.
const few = 3

// askBeside sends requests of another caller until the test ends.
func (v *victim) askBeside(t *testing.T) *beside {
	t.Helper()
	b := &beside{end: make(chan struct{})}
	b.all.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for last, n := int64(0), 0; !closed(b.end); <-tick.C {
			began := b.hostile.Load()
			if began != last {
				last, n = began, 0
			}
			if n++; n > few || began%2 == 0 {
				continue
			}
			if a, err := v.operator.Try("GET", "/models/refund", nil); err != nil || a.Status != 200 {
				t.Errorf("somebody else: %v, %v", a, err)
				return
			}
			if began == b.hostile.Load() {
				b.answered.Add(1)
			}
		}
	})
	return b
}

// during counts the requests that are answered while do runs.
func (b *beside) during(do func()) {
	b.hostile.Add(1)
	defer b.hostile.Add(1)
	do()
}

func (b *beside) leave() {
	close(b.end)
	b.all.Wait()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
