package runrepo_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// settling is how long Settle takes.
func (h *fixture) settling(ctx context.Context, ref runrepo.Ref) time.Duration {
	began := time.Now()
	h.repository.Settle(ctx, ref)
	return time.Since(began)
}

// TestARunThatMovesIsWaitedFor, until all that move it have ended, and no other run is.
func TestARunThatMovesIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := runrepo.Ref{Tenant: "acme", RunID: "moves"}
		first, second := h.repository.Moving(ref), h.repository.Moving(ref)
		time.AfterFunc(10*time.Millisecond, first)
		time.AfterFunc(30*time.Millisecond, second)
		if took := h.settling(t.Context(), runrepo.Ref{Tenant: "beta", RunID: "moves"}); took != 0 {
			t.Errorf("another run settled after %s", took)
		}
		if took := h.settling(t.Context(), ref); took != 30*time.Millisecond {
			t.Errorf("it settled after %s", took)
		}
		if took := h.settling(t.Context(), ref); took != 0 {
			t.Errorf("once it has moved, it settled after %s", took)
		}
	})
}

// TestARunThatIsStuckIsNotWaitedForLong, nor beyond the caller's own time.
func TestARunThatIsStuckIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		ref := runrepo.Ref{Tenant: "acme", RunID: "stuck"}
		defer h.repository.Moving(ref)()
		if took := h.settling(t.Context(), ref); took == 0 || took > time.Second {
			t.Errorf("given up after %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if took := h.settling(ctx, ref); took != time.Millisecond {
			t.Errorf("given up after %s", took)
		}
	})
}
