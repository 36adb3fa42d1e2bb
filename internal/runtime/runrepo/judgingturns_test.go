package runrepo_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// TestWhatCostsMuchIsJudgedOneAtATime: of all tenants together, so that who asks for much waits
// for others who do, and takes one processor at most. What costs little waits for none of them.
func TestWhatCostsMuchIsJudgedOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := runrepo.New(runrepo.Config{})
		var judged, together, most atomic.Int64
		var all sync.WaitGroup
		for _, tenant := range []string{"acme", "acme", "beta", "beta", "gamma"} {
			all.Go(func() {
				err := l.Judge(t.Context(), tenant, func(m *cost.Meter) {
					if !m.Take(cost.InTurn+1, "x") {
						return
					}
					if n := together.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(time.Second)
					together.Add(-1)
					judged.Add(1)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if err := l.Judge(t.Context(), "delta", func(m *cost.Meter) { m.Take(cost.InTurn, "x") }); err != nil || time.Since(began) != 0 {
			t.Errorf("what costs little took %s, %v", time.Since(began), err)
		}
		all.Wait()
		if judged.Load() != 5 || most.Load() != 1 {
			t.Errorf("%d were judged, %d at once", judged.Load(), most.Load())
		}
	})
}
