package updates_test

import (
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/updates"
)

func at(id string, revision int64) *countersign.Run {
	return &countersign.Run{ID: id, Revision: revision}
}

// drained takes what a watcher holds now.
func drained(w *updates.Watcher) (revisions []int64) {
	for {
		select {
		case r := <-w.C:
			revisions = append(revisions, r.Revision)
		default:
			return revisions
		}
	}
}

func TestWatcherSeesTheChangesOfItsRunInOrder(t *testing.T) {
	var h updates.Hub
	w := h.Watch("acme", "run-1")
	defer w.Close()
	h.Publish("acme", at("run-1", 1))
	h.Publish("acme", at("run-2", 9))
	h.Publish("other", at("run-1", 9)) // ids are the tenant's own
	h.Publish("acme", at("run-1", 2))
	if got := drained(w); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("saw %v", got)
	}
}

func TestEveryWatcherSeesEveryChange(t *testing.T) {
	var h updates.Hub
	a, b := h.Watch("acme", "run-1"), h.Watch("acme", "run-1")
	defer b.Close()
	h.Publish("acme", at("run-1", 1))
	a.Close()
	h.Publish("acme", at("run-1", 2))
	if first, second := drained(a), drained(b); len(first) != 1 || len(second) != 2 {
		t.Errorf("saw %v and %v", first, second)
	}
}

// TestSlowWatcherLosesTheOldest: publishing never waits, and the newest state
// always arrives.
func TestSlowWatcherLosesTheOldest(t *testing.T) {
	var h updates.Hub
	w := h.Watch("acme", "run-1")
	defer w.Close()
	const published = 1000
	for n := range published {
		h.Publish("acme", at("run-1", int64(n)))
	}
	got := drained(w)
	if len(got) != cap(w.C) || got[len(got)-1] != published-1 || got[0] != int64(published-cap(w.C)) {
		t.Errorf("saw %v", got)
	}
}

func TestClosedWatcherSeesNothingAndMayCloseAgain(t *testing.T) {
	var h updates.Hub
	w := h.Watch("acme", "run-1")
	w.Close()
	w.Close()
	h.Publish("acme", at("run-1", 1))
	if got := drained(w); got != nil {
		t.Errorf("saw %v", got)
	}
	again := h.Watch("acme", "run-1")
	defer again.Close()
	h.Publish("acme", at("run-1", 2))
	if got := drained(again); len(got) != 1 {
		t.Errorf("saw %v", got)
	}
}

// TestWatchersComeAndGoWhileRunsChange: under the race detector.
func TestWatchersComeAndGoWhileRunsChange(t *testing.T) {
	var h updates.Hub
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for n := range 200 {
				h.Publish("acme", at("run-1", int64(n)))
			}
		})
		work.Go(func() {
			for range 50 {
				w := h.Watch("acme", "run-1")
				drained(w)
				w.Close()
			}
		})
	}
	work.Wait()
}
