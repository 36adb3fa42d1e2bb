package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// arrivals is an open loop: it has do called at times that a clock decides, whatever becomes of
// earlier calls, each in a goroutine of its own. A loop of clients that wait for their answers
// sends nothing while the service stalls, and so measures one slow request where there would
// have been a hundred. Here each of the hundred is due, and its latency counts from then.
type arrivals struct {
	every  time.Duration // mean time between two
	random *rand.Rand    // gaps as of independent callers; nil: all alike
	do     func(n int, due time.Time)
}

// run returns when all calls that were due before the context's end have returned.
func (a arrivals) run(ctx context.Context, begin time.Time) {
	var all sync.WaitGroup
	defer all.Wait()
	due := begin
	for n := 0; pause(ctx, time.Until(due)); n++ {
		at := due
		all.Go(func() { a.do(n, at) })
		due = due.Add(a.gap())
	}
}

func (a arrivals) gap() time.Duration {
	if a.random == nil {
		return a.every
	}
	return time.Duration(a.random.ExpFloat64() * float64(a.every))
}

// pause waits; false if the context ended before.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
