package updates_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/updates"
)

// TestAWatcherSeesWhatAnotherProcessCommitted, once, and nobody reads a run that
// nobody watches.
func TestAWatcherSeesWhatAnotherProcessCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h updates.Hub
		var stored, reads atomic.Int64
		stored.Store(1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.Poll(ctx, time.Second, func(_ context.Context, tenant, runID string, newer int64) (*countersign.Run, error) {
			reads.Add(1)
			if tenant != "acme" || runID != "run-1" {
				t.Errorf("reads %s/%s", tenant, runID)
			}
			if stored.Load() <= newer {
				return nil, nil
			}
			return at(runID, stored.Load()), nil
		})
		time.Sleep(time.Minute)
		if reads.Load() > 0 {
			t.Error("it reads what nobody watches")
		}
		w := h.Watch("acme", "run-1")
		w.Seen(1)
		time.Sleep(time.Minute)
		if got := drained(w); len(got) > 0 {
			t.Errorf("is told what it knows: %v", got)
		}
		for _, revision := range []int64{4, 7} {
			stored.Store(revision)
			time.Sleep(time.Minute)
			if got := drained(w); len(got) != 1 || got[0] != revision {
				t.Errorf("saw %v", got)
			}
		}
		w.Close()
		reads.Store(0)
		time.Sleep(time.Minute)
		if reads.Load() > 0 {
			t.Error("it goes on reading")
		}
	})
}

// TestAViewerWhoComesLaterTakesNothingFromTheOthers: what the one has read of the
// run's present state, the others have not been told.
func TestAViewerWhoComesLaterTakesNothingFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h updates.Hub
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.Poll(ctx, time.Second, func(_ context.Context, _, runID string, newer int64) (*countersign.Run, error) {
			if newer >= 2 {
				return nil, nil
			}
			return at(runID, 2), nil
		})
		first := h.Watch("acme", "run-1")
		defer first.Close()
		first.Seen(1)
		later := h.Watch("acme", "run-1")
		defer later.Close()
		later.Seen(2)
		time.Sleep(time.Minute)
		if got := drained(first); len(got) != 1 || got[0] != 2 {
			t.Errorf("the first saw %v", got)
		}
		if got := drained(later); len(got) > 0 {
			t.Errorf("the later one is told what it knows: %v", got)
		}
	})
}

// TestALateWordIsNotPassedOn: whoever committed a change tells of it afterwards, so
// that an older state can be heard of behind a newer one.
func TestALateWordIsNotPassedOn(t *testing.T) {
	var h updates.Hub
	w := h.Watch("acme", "run-1")
	defer w.Close()
	for _, revision := range []int64{3, 2, 3, 4} {
		h.Publish("acme", at("run-1", revision))
	}
	if got := drained(w); len(got) != 2 || got[0] != 3 || got[1] != 4 {
		t.Errorf("saw %v", got)
	}
}
