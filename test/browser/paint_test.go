package browser

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

var (
	stored = flag.Int("stored", 100, "runs that the store holds when pages are painted")
	paint  = flag.Duration("paint", 0, "how soon a page must show something; 0 doesn't measure it")
)

// TestPagesShowSomethingSoon, however much history there is. It measures the first visit of a page, which loads
// style and scripts, and the median of the next ones. It uses the wall clock, so it is for a quiet machine, and
// off unless a bound is given.
func TestPagesShowSomethingSoon(t *testing.T) {
	if *paint == 0 || !started(t) {
		return
	}
	h := newFixture(t)
	s := h.furnish(t, "default", h.Admin)
	s.fill()
	s.startMany(*stored)
	p := newTab(t, s.Server)
	s.admin.Put("/users/"+s.mail("ada"), doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
	p.signIn(s.mail("ada"))
	for _, path := range []string{"/", "/runs", "/runs?status=FAILED", s.paths["completed run"], "/approvals", s.paths["approval"], "/recovery", s.paths["recovery page"], "/plans", s.paths["plan"], "/models/refund-agent", "/projects", "/agents", "/audit", "/access/tokens"} {
		var seen []time.Duration
		for range 5 {
			p.open(path)
			p.until("the first paint", `performance.getEntriesByName("first-contentful-paint").length > 0`)
			ms := js[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
			seen = append(seen, time.Duration(ms*float64(time.Millisecond)))
		}
		first := seen[0]
		slices.Sort(seen)
		t.Logf("%-40s first visit %4d ms, median of 5 %4d ms", path, first.Milliseconds(), seen[2].Milliseconds())
		if seen[2] > *paint {
			t.Errorf("%s shows something after %s; the goal is %s", path, seen[2], *paint)
		}
	}
}

// startMany starts rehearsals, a few concurrently, until so many runs are stored.
func (s *stage) startMany(n int) {
	s.t.Helper()
	var all sync.WaitGroup
	var next atomic.Int64
	for range 3 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n) && !s.t.Failed(); i = next.Add(1) {
				key := harness.Header(fmt.Sprintf("Idempotency-Key: many-%d", i))
				harness.Until(s.t, "a slot", func() bool {
					return s.all.Post("/runs", doc{"planId": "refund-rehearsal"}, key).Status == 202
				})
			}
		})
	}
	all.Wait()
}
