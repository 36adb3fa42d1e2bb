package httpapi

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestLargeAnswersAreMadeInTurns: a tenant that asks for however many has one of them made at a
// time, another one's is made beside it, and what was small waits for none.
func TestLargeAnswersAreMadeInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, gate := newLargeAnswers(), make(chan bool)
		var all sync.WaitGroup
		var under atomic.Int64
		ask := func(tenant, path string, read bool, size int) (ended *atomic.Bool) {
			ended = &atomic.Bool{}
			all.Go(func() {
				err := l.do(t.Context(), answerKey{tenant: tenant, path: path}, read, func() int {
					under.Add(1)
					defer under.Add(-1)
					if size > largeAnswer {
						<-gate
					}
					return size
				})
				ended.Store(err == nil)
			})
			synctest.Wait()
			return ended
		}
		wants := func(what string, n int64) {
			t.Helper()
			if got := under.Load(); got != n {
				t.Errorf("%s: %d are made at once, not %d", what, got, n)
			}
		}
		ask("acme", "small", true, 1)
		ask("acme", "POST", false, largeAnswer+1)
		wants("a change of which nothing is known", 1)
		gate <- true
		synctest.Wait()
		for i := range 6 {
			ask("acme", strconv.Itoa(i), true, largeAnswer+1)
		}
		ask("acme", "POST", false, largeAnswer+1)
		wants("reads of one tenant", 1)
		ask("beta", "0", true, largeAnswer+1)
		wants("another tenant's beside them", 2)
		if !ask("acme", "small", true, 1).Load() || !ask("acme", "new", false, 1).Load() {
			t.Error("what is small, or may be, waits for what is large")
		}
		close(gate)
		all.Wait()
	})
}
