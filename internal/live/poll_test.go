package live_test

import (
	"context"
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
		stored, reads := int64(1), 0
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.Poll(ctx, time.Second, func(_ context.Context, tenant, runID string, newer int64) (*countersign.Run, error) {
			reads++
			if tenant != "acme" || runID != "run-1" {
				t.Errorf("reads %s/%s", tenant, runID)
			}
			if stored <= newer {
				return nil, nil
			}
			return at(runID, stored), nil
		})
		time.Sleep(time.Minute)
		if reads > 0 {
			t.Error("it reads what nobody watches")
		}
		w := h.Watch("acme", "run-1")
		for _, revision := range []int64{4, 7} {
			stored = revision
			time.Sleep(time.Minute)
			if got := drained(w); len(got) != 1 || got[0] != revision {
				t.Errorf("saw %v", got)
			}
		}
		w.Close()
		reads = 0
		time.Sleep(time.Minute)
		if reads > 0 {
			t.Error("it goes on reading")
		}
	})
}
