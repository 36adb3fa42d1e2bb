package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const root = "../.."

func bugList(t *testing.T) []*bug {
	t.Helper()
	bugs, err := parse(listText)
	if err != nil {
		t.Fatal(err)
	}
	return bugs
}

// TestEveryBugStillFits: when a line of the product that a bug changes is rewritten, the bug must be
// rewritten too.
func TestEveryBugStillFits(t *testing.T) {
	for _, b := range bugList(t) {
		for _, e := range b.edits {
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				t.Errorf("bug %s: %v", b.name, err)
				continue
			}
			if _, err := e.apply(string(content)); err != nil {
				t.Errorf("bug %s: %v", b.name, err)
			}
		}
	}
}

func TestSharesOfTheListAreTheList(t *testing.T) {
	bugs := bugList(t)
	for _, n := range []int{1, 2, 7, 8, len(bugs) + 1} {
		var all []*bug
		for k := range n {
			share, err := shareOf(bugs, fmt.Sprintf("%d/%d", k+1, n))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, share...)
		}
		if !slices.Equal(all, bugs) {
			t.Errorf("in %d shares there are %d bugs of %d", n, len(all), len(bugs))
		}
	}
	for _, wrong := range []string{"0/8", "9/8", "8", "1/0", "-1/8", "x"} {
		if _, err := shareOf(bugs, wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bugList(t) {
		if seen[b.name] {
			t.Errorf("two bugs are called %s", b.name)
		}
		seen[b.name] = true
	}
}

// TestEveryRuleHasItsBugs: at least 56 bugs, two for each invariant, one for each trap.
func TestEveryRuleHasItsBugs(t *testing.T) {
	bugs := bugList(t)
	if len(bugs) < 56 {
		t.Errorf("there are %d bugs; at least 56 are needed", len(bugs))
	}
	count := map[string]int{}
	for _, b := range bugs {
		for _, r := range b.rules {
			count[r]++
		}
	}
	for _, r := range invariants {
		if count[r] < 2 {
			t.Errorf("invariant %s has %d bugs, not two", r, count[r])
		}
	}
	for _, r := range traps {
		if count[r] < 1 {
			t.Errorf("trap %s has no bug", r)
		}
	}
}

func TestAnEditNeedsItsLinesExactlyOnce(t *testing.T) {
	e := &edit{file: "f", old: "a\n", new: "b\n"}
	for content, fits := range map[string]bool{"a\n": true, "x\na\ny\n": true, "x\n": false, "a\na\n": false, "xa\n": false, "a b\n": false} {
		got, err := e.apply(content)
		if (err == nil) != fits {
			t.Errorf("applied to %q: %q, %v", content, got, err)
		}
	}
}

func TestWhatTheListDoesNotSayIsRefused(t *testing.T) {
	const head = "bug b\nbreaks D1\nwhy w\n"
	for name, text := range map[string]string{
		"no bug before":       "why w\n",
		"an unknown word":     "bug b\nrule D1\n",
		"an unknown rule":     "bug b\nbreaks D9\nwhy w\n@@ f\n-a\n+b\n",
		"no reason":           "bug b\nbreaks D1\n@@ f\n-a\n+b\n",
		"nothing changes":     head + "@@ f\n a\n",
		"nothing to find":     head + "@@ f\n+b\n",
		"an unmarked line":    head + "@@ f\na\n+b\n",
		"more than five":      head + "@@ f\n-a\n+1\n+2\n+3\n+4\n+5\n+6\n",
		"no edit":             head,
		"a name of two words": "bug a b\nbreaks D1\nwhy w\n@@ f\n-a\n+b\n",
	} {
		if bugs, err := parse(text); err == nil {
			t.Errorf("%s: accepted as %+v", name, bugs[0])
		}
	}
}
