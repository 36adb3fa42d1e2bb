package runrepo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestPlansAreRememberedForSoManyBytes: a large one is remembered, and sixty-four large
// ones are not.
func TestPlansAreRememberedForSoManyBytes(t *testing.T) {
	h := open(t)
	var first, last *countersign.Plan
	for n := range 24 {
		s := step("pay", "pay")
		s.Input = map[string]countersign.Value{"note": countersign.String(strings.Repeat("x", 900_000))}
		p := h.register("acme", fmt.Sprintf("large-%d", n), s)
		last = h.plan("acme", p.ID, p.PlanDigest)
		if n == 0 {
			first = last
		}
		if h.plan("acme", p.ID, p.PlanDigest) != last {
			t.Fatalf("plan %d was read twice in a row", n)
		}
	}
	if h.plan("acme", first.ID, first.PlanDigest) == first {
		t.Error("twenty-four plans of a mebibyte are in memory")
	}
}
