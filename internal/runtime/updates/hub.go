// Package updates tells those who watch a run that it changed. It is a hint within
// one process: whoever needs the truth reads the store.
package updates

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
}

type key struct{ tenant, runID string }

// Watcher receives the changes of one run.
type Watcher struct {
	C   chan *countersign.Run
	hub *Hub
	key key

	seen int64 // the newest revision that it was told of; the hub's lock guards it
}

// Watch begins to watch a run. Close the watcher when done.
func (h *Hub) Watch(tenant, runID string) *Watcher {
	w := &Watcher{C: make(chan *countersign.Run, backlog), hub: h, key: key{tenant, runID}}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[key]map[*Watcher]struct{}{}
	}
	if h.watchers[w.key] == nil {
		h.watchers[w.key] = map[*Watcher]struct{}{}
	}
	h.watchers[w.key][w] = struct{}{}
	return w
}

// Seen says which revision the watcher knows already: it is told of later ones only.
func (w *Watcher) Seen(revision int64) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	w.seen = max(w.seen, revision)
}

// Close ends the watch.
func (w *Watcher) Close() {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	delete(w.hub.watchers[w.key], w)
	if len(w.hub.watchers[w.key]) == 0 {
		delete(w.hub.watchers, w.key)
	}
}

// Publish passes a run, as it was committed, to its watchers. It never blocks:
// who lags too far behind loses the oldest change.
func (h *Hub) Publish(tenant string, r *countersign.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers[key{tenant, r.ID}] {
		if r.Revision > w.seen { // word of an older state may come late
			w.seen = r.Revision
			w.offer(r)
		}
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
