package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// TestFourReceiversOfAProjectAreAskedAtOnce: the longest due first, each once at a time, and one
// project's wait is no other's.
func TestFourReceiversOfAProjectAreAskedAtOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	q := questions{due: map[runrepo.Ref]asked{}, underway: map[runrepo.Ref]bool{}, projects: map[projectRef]int{}}
	shop, desk := projectRef{"acme", "acme-shop"}, projectRef{"acme", "acme-desk"}
	ref := func(n int) runrepo.Ref { return runrepo.Ref{Tenant: "acme", RunID: fmt.Sprintf("run-%d", n)} }
	for n := range 6 {
		q.due[ref(n)] = asked{at: now.Add(-time.Duration(n) * time.Second), project: shop}
	}
	q.due[ref(7)] = asked{at: now, project: desk, force: true}
	q.due[ref(8)] = asked{at: now.Add(1), project: desk}
	took := q.take(now)
	if got := fmt.Sprint(took); got != fmt.Sprint([]runrepo.Ref{ref(5), ref(4), ref(3), ref(2), ref(7)}) {
		t.Fatalf("asked: %s", got)
	}
	if again := q.take(now); len(again) != 0 {
		t.Fatalf("asked beside that: %v", again)
	}
	if !q.forced(ref(7)) || q.forced(ref(7)) || q.forced(ref(5)) {
		t.Error("asked whatever the record says, not just once")
	}
	delete(q.due, ref(5)) // it was settled
	q.put(ref(5), shop, time.Time{})
	q.put(ref(4), shop, now.Add(time.Minute)) // it came to nothing
	if got := fmt.Sprint(q.take(now)); got != fmt.Sprint([]runrepo.Ref{ref(1), ref(0)}) {
		t.Fatalf("asked then: %s", got)
	}
	for _, n := range []int{0, 1, 2, 3} {
		q.put(ref(n), shop, time.Time{})
	}
	q.put(ref(7), desk, time.Time{})
	if len(q.projects) != 0 || len(q.underway) != 0 {
		t.Errorf("left under way: %v %v", q.projects, q.underway)
	}
	if got := q.take(now.Add(59 * time.Second)); len(got) != 6 {
		t.Errorf("what came to nothing is asked before its time, or the others aren't: %v", got)
	}
}
