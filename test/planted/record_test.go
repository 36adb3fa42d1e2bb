package main

import (
	"testing"
)

// TestARunGoesOnWhereItWasEnded: what was caught on the same tree is not tried
// again, unless that is asked for; what was not caught is.
func TestARunGoesOnWhereItWasEnded(t *testing.T) {
	dir := t.TempDir()
	first, second, third := &bug{name: "first"}, &bug{name: "second"}, &bug{name: "third"}
	rec, err := readRecord(dir, "tree")
	if err != nil {
		t.Fatal(err)
	}
	for b, is := range map[*bug]string{first: caught, second: survived} {
		if err := rec.add(b, result{Is: is, Fast: true}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		tree string
		goOn bool
		left int
	}{
		"the same tree":       {"tree", true, 2},
		"another tree":        {"another", true, 3},
		"the same tree, anew": {"tree", false, 3},
	} {
		rec, err := readRecord(dir, c.tree)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{search: &search{options: options{goOn: c.goOn}}, record: rec, bugs: []*bug{first, second, third}}
		if left := r.left(); len(left) != c.left {
			t.Errorf("%s: %d bugs are left, not %d", name, len(left), c.left)
		}
		if n := r.tally(); n.tried != 3-c.left || n.fast != 3-c.left {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
