// Package live tells those who watch a run that it changed. It is a hint within
// one process: whoever needs the truth reads the store.
package live

import (
	"sync"

	"github.com/countersign/countersign"
)

// backlog is how many changes a watcher may lag behind; beyond it the oldest
// are dropped, and the newest state still arrives.
const backlog = 64

// Hub passes changed runs to their watchers. The zero Hub is ready.
type Hub struct {
	mu       sync.Mutex
	watchers map[key]map[*Watcher]struct{}
	newest   map[key]int64 // revisions passed on, of what is watched
}

type key struct{ tenant, runID string }

// Watcher receives the changes of one run.
type Watcher struct {
	C   chan *countersign.Run
	hub *Hub
	key key
}

// Watch begins to watch a run. Close the watcher when done.
func (h *Hub) Watch(tenant, runID string) *Watcher {
	w := &Watcher{C: make(chan *countersign.Run, backlog), hub: h, key: key{tenant, runID}}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers, h.newest = map[key]map[*Watcher]struct{}{}, map[key]int64{}
	}
	if h.watchers[w.key] == nil {
		h.watchers[w.key] = map[*Watcher]struct{}{}
	}
	h.watchers[w.key][w] = struct{}{}
	return w
}

// Seen says which revision a watcher knows already, so that Poll passes on later
// ones only.
func (h *Hub) Seen(tenant string, r *countersign.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := (key{tenant, r.ID}); h.watchers[k] != nil {
		h.newest[k] = max(h.newest[k], r.Revision)
	}
}

// Close ends the watch.
func (w *Watcher) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	delete(w.hub.watchers[w.key], w)
	if len(w.hub.watchers[w.key]) == 0 {
		delete(w.hub.watchers, w.key)
		delete(w.hub.newest, w.key)
	}
}

// Publish passes a run, as it was committed, to its watchers. It never blocks:
// who lags too far behind loses the oldest change.
func (h *Hub) Publish(tenant string, r *countersign.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := key{tenant, r.ID}
	for w := range h.watchers[k] {
		w.offer(r)
	}
	if h.watchers[k] != nil {
		h.newest[k] = max(h.newest[k], r.Revision)
	}
}

func (w *Watcher) offer(r *countersign.Run) {
	select {
	case w.C <- r:
		return
	default:
	}
	select {
	case <-w.C:
	default:
	}
	select {
	case w.C <- r:
	default:
	}
}
