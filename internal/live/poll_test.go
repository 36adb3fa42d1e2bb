package live_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/live"
)

// TestAWatcherSeesWhatAnotherProcessCommitted, once, and nobody reads a run that
// nobody watches.
func TestAWatcherSeesWhatAnotherProcessCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h live.Hub
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
		h.Seen("acme", at("run-1", 1))
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
