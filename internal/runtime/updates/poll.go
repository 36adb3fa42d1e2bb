package updates

import (
	"context"
	"math"
	"time"

	"github.com/countersign/countersign"
)

// Reader reads a run if it has a later revision than newer, else nil.
type Reader func(ctx context.Context, tenant, runID string, newer int64) (*countersign.Run, error)

// Poll reads each watched run at every interval until ctx ends, and passes on what
// other processes committed. What can't be read now is read the next time.
func (h *Hub) Poll(ctx context.Context, every time.Duration, read Reader) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		for k, known := range h.watched() {
			if r, err := read(ctx, k.tenant, k.runID, known); err == nil && r != nil {
				h.Publish(k.tenant, r)
			}
		}
	}
}

// watched are the runs that somebody watches, each with the revision that all of
// its watchers know.
func (h *Hub) watched() map[key]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[key]int64, len(h.watchers))
	for k, all := range h.watchers {
		known := int64(math.MaxInt64)
		for w := range all {
			known = min(known, w.seen)
		}
		out[k] = known
	}
	return out
}
