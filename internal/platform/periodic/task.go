// Package periodic calls a function at intervals in the background, until it is stopped.
package periodic

import (
	"context"
	"sync"
	"time"
)

// Task is a function that is called at intervals until Stop.
type Task struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// Start calls round at once and then at each interval. Intervals that pass during a long
// round are skipped. Stop cancels the context of round.
func Start(every time.Duration, round func(context.Context)) *Task { return Sparing(every, 0, round) }

// Sparing is Start with a rest after each round, so many times as long as the round took: a
// round that costs more with more records is called less often, and never takes more than
// its share of a processor.
func Sparing(every time.Duration, rest int, round func(context.Context)) *Task {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Task{cancel: cancel}
	r.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for ctx.Err() == nil {
			began := time.Now()
			round(ctx)
			if pause := time.Duration(rest) * time.Since(began); pause > every && !Pause(ctx, pause) {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return r
}

// Stop returns when the last round has ended. On a nil Task it does nothing.
func (t *Task) Stop() {
	if t != nil {
		t.cancel()
		t.ended.Wait()
	}
}

// Pause waits for d; it returns false if the context ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
