package httpapi

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestLargeBodiesAreServedInTurns: one of a tenant at a time, another tenant's beside it, and
// what is small waits for none. Who has gone is served no more.
func TestLargeBodiesAreServedInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, gate := newLargeBodies(), make(chan bool)
		var all sync.WaitGroup
		var under atomic.Int64
		send := func(tenant string, size int) {
			all.Go(func() {
				if err := l.do(t.Context(), tenant, size, func() { under.Add(1); <-gate }); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wants := func(what string, n int64) {
			t.Helper()
			if got := under.Load(); got != n {
				t.Errorf("%s: %d are served at once, not %d", what, got, n)
			}
		}
		for range 8 {
			send("acme", largeBody+1)
		}
		wants("one tenant's", 1)
		send("beta", largeBody+1)
		wants("another tenant's beside them", 2)
		send("acme", largeBody)
		wants("a small one beside them", 3)
		close(gate)
		all.Wait()
	})
}
