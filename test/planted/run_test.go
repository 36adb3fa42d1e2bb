package main

import (
	"testing"

	"github.com/countersign/countersign/test/gotest"
)

// TestARunGoesOnWhereItWasEnded: with -continue, bugs that were caught on the same tree are not tried again;
// others are.
func TestARunGoesOnWhereItWasEnded(t *testing.T) {
	bugs := []*bug{{name: "first"}, {name: "second"}, {name: "third"}}
	for goOn, left := range map[bool]int{true: 2, false: 3} {
		seen := map[string]result{"first": {Is: caught, Fast: true}, "second": {Is: survived}}
		r := &run{search: &search{options: options{goOn: goOn}}, record: &gotest.Record[result]{Results: seen}, bugs: bugs}
		if got := r.left(); len(got) != left {
			t.Errorf("-continue=%t: %d bugs are left, not %d", goOn, len(got), left)
		}
		if n := r.tally(); n.tried != 3-left || n.fast != 3-left {
			t.Errorf("-continue=%t: %+v", goOn, n)
		}
	}
}
