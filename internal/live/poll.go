package live

import (
	"context"
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
		for k, newest := range h.watched() {
			if r, err := read(ctx, k.tenant, k.runID, newest); err == nil && r != nil {
				h.Publish(k.tenant, r)
			}
		}
	}
}

// watched are the runs that somebody watches, with the newest revision passed on.
func (h *Hub) watched() map[key]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[key]int64, len(h.watchers))
	for k := range h.watchers {
		out[k] = h.newest[k]
	}
	return out
}
