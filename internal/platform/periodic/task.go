// Package periodic does something again and again in the background, until it is told
// to stop.
package periodic

import (
	"context"
	"sync"
	"time"
)

// Task are under way until Stop.
type Task struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// Start goes a round at once, and then one each time that so much has passed. A round
// that takes longer is not caught up with. Its context ends with Stop.
func Start(every time.Duration, round func(context.Context)) *Task {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Task{cancel: cancel}
	r.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for ctx.Err() == nil {
			round(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return r
}

// Stop returns when the last round has ended. Rounds that were never started, nil, it
// leaves alone.
func (r *Task) Stop() {
	if r != nil {
		r.cancel()
		r.ended.Wait()
	}
}

// Pause waits; false where the context ends meanwhile.
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
