package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The possible results for a bug.
const (
	caught   = "caught"
	survived = "SURVIVED"
	failed   = "ERROR" // no result: the list or the tests are wrong
	builds   = "builds"
)

// result is the result for one bug: what caught it, and after how long.
type result struct {
	Is      string
	By      string
	Fast    bool // the fast tier caught it
	Seconds float64
	found   *hint // the result of a search
}

// search is the state that the bugs of a run share.
type search struct {
	options
	tree     tree
	dir      string // directory of the planted files
	packages []goPackage
	tiers    []tier
	hints    map[string]hint
	passing  map[hint]bool // the hinted tests that passed without a bug in this run
}

// try plants a bug and runs the tests until one fails.
func (s *search) try(ctx context.Context, b *bug) result {
	start := time.Now()
	dir := filepath.Join(s.dir, b.name)
	t, err := s.tree.plant(b, dir)
	var r result
	if err == nil {
		r, err = s.tryPlanted(ctx, t, b)
	}
	_ = os.RemoveAll(dir) // remaining temporary files do no harm
	if err != nil {
		r = result{Is: failed, By: err.Error()}
	}
	r.Seconds = time.Since(start).Seconds()
	return r
}

func (s *search) tryPlanted(ctx context.Context, t tree, b *bug) (result, error) {
	if s.buildOnly {
		return result{Is: builds}, t.build(ctx, packageArguments(b)...)
	}
	if h, ok := s.hints[b.name]; ok && s.passing[h] {
		c := h.call()
		for play := range s.plays() {
			seen, err := t.test(ctx, c)
			if err == nil && seen.failed != nil && seen.failed.check == h.check {
				return result{Is: caught, By: h.tier + ": " + seen.failed.String() + again(play), Fast: c.tier.isFast()}, nil
			}
		}
	}
	if s.hintsOnly {
		return result{}, fmt.Errorf("caught.txt names no test that catches it: find one with -only %s, without -hinted", b.name)
	}
	return s.searchAll(ctx, t, b)
}

// plays is how often the hinted test is played: once where another test is searched instead. A test
// that draws may miss a bug in one play, and none of them decides alone whether a change passes.
func (s *search) plays() int {
	if s.hintsOnly {
		return 3
	}
	return 1
}

func again(play int) string {
	if play == 0 {
		return ""
	}
	return fmt.Sprintf(", in play %d only", play+1)
}

// searchAll runs the tests of one tier after the other, from near to far. A flaky test counts only if no other
// test catches the bug: it may have failed by chance.
func (s *search) searchAll(ctx context.Context, t tree, b *bug) (result, error) {
	unsteady := result{Is: survived}
	for _, tier := range s.tiers {
		for _, packages := range searchOrder(s.packages, folders(b)) {
			r, err := s.searchIn(ctx, t, call{tier: tier, packages: packages})
			if err != nil || r.found != nil {
				return r, err
			}
			if r.Is == caught && unsteady.Is == survived {
				unsteady = r
			}
		}
	}
	return unsteady, nil
}

// searchIn runs the tests of some packages until one has caught the bug. It excludes a test that failed for another
// reason, and continues.
func (s *search) searchIn(ctx context.Context, t tree, c call) (unsteady result, err error) {
	for len(c.packages) > 0 {
		seen, err := t.test(ctx, c)
		if err != nil || seen.failed == nil {
			return unsteady, err
		}
		r, err := s.judge(ctx, t, c.tier, *seen.failed)
		if err != nil || r.found != nil {
			return r, err
		}
		if unsteady.Is == "" {
			unsteady = r
		}
		c = c.without(seen.failed.check)
	}
	return unsteady, nil
}

// judge repeats a failed test without the bug and once more with it. A test that fails without the bug has caught
// nothing and would seem to catch every bug; a flaky test may have failed by chance.
func (s *search) judge(ctx context.Context, t tree, tier tier, f failure) (r result, err error) {
	if f.Test == "" { // possibly the service was not built
		if err := t.build(ctx); err != nil {
			return r, err
		}
	}
	clean, err := s.tree.test(ctx, f.call(tier))
	if err != nil || !clean.passed[f.check] {
		return r, err
	}
	again, err := t.test(ctx, f.call(tier))
	r = result{Is: caught, By: tier.name + ": " + f.String(), Fast: tier.isFast()}
	if again.failed == nil {
		r.By += ", but not each time"
	} else {
		r.found = &hint{tier.name, f.check}
	}
	return r, err
}

// confirmHints runs the hinted tests of these bugs without any bug, those of a package in one call. A test that
// fails, is skipped or no longer exists can't show anything.
func (s *search) confirmHints(ctx context.Context, bugs []*bug) error {
	var groups [][]hint
	for _, b := range bugs {
		h, ok := s.hints[b.name]
		if !ok {
			continue
		}
		i := slices.IndexFunc(groups, func(g []hint) bool { return g[0].tier == h.tier && g[0].Package == h.Package })
		switch {
		case i < 0:
			groups = append(groups, []hint{h})
		case !slices.Contains(groups[i], h):
			groups[i] = append(groups[i], h)
		}
	}
	for _, hints := range groups {
		if err := s.confirm(ctx, hints); err != nil {
			return err
		}
	}
	return nil
}

// confirm runs the hinted tests of one package in one tier.
func (s *search) confirm(ctx context.Context, hints []hint) error {
	start := time.Now()
	c := hints[0].call()
	c.alone, c.toTheEnd, c.tests = false, true, testNames(hints)
	seen, err := s.tree.test(ctx, c)
	if err != nil {
		return fmt.Errorf("without a bug: %w", err)
	}
	var not []string
	for _, h := range hints {
		s.passing[h] = seen.passed[h.check]
		if !s.passing[h] {
			not = append(not, h.Test)
		}
	}
	fmt.Printf("without a bug: %d of %d hinted tests pass in %s (%s) after %.0f s", len(hints)-len(not), len(hints), c.packages[0], c.tier.name, time.Since(start).Seconds())
	if len(not) > 0 {
		fmt.Printf("; not %s", strings.Join(not, ", "))
	}
	fmt.Println()
	return nil
}

// testNames are the tests of the hints, empty if a hint is about a package as a whole.
func testNames(hints []hint) []string {
	var out []string
	for _, h := range hints {
		if h.Test == "" {
			return nil
		}
		out = append(out, h.Test)
	}
	return out
}

// folders are the folders of a bug's files.
func folders(b *bug) []string {
	var out []string
	for _, e := range b.edits {
		if dir := path.Dir(e.file); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// packageArguments are the packages of a bug's files, as arguments.
func packageArguments(b *bug) []string {
	var out []string
	for _, dir := range folders(b) {
		out = append(out, "./"+strings.TrimPrefix(dir, "./"))
	}
	return out
}
