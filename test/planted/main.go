// Command planted tries the planted bugs of bugs.txt: it makes each in a copy of the tree and looks which
// test fails, first in the fast tier of tests, then in the full one. A bug that no test notices has
// survived. The tests must catch known bugs before their passing means anything.
//
// The test that caught a bug in the last search is recorded in caught.txt and is tried first. Only for a bug
// that it doesn't catch the command searches, from the packages near the bug to those far from it. The
// command fails if a bug survives, or if the fast tier catches fewer than 95 % of all.
//
//	go run ./test/planted [-only name,...] [-share k/n] [-jobs n] [-continue] [-update] [-search] [-hinted] [-fast] [-race] [-build]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/countersign/countersign/test/gotest"
)

func main() { os.Exit(status()) }

// options are the flags.
type options struct {
	only, share                                                     string
	jobs                                                            int
	goOn, update, searchAnew, hintsOnly, fastOnly, raced, buildOnly bool
}

func status() int {
	var o options
	flag.StringVar(&o.only, "only", "", "try these bugs only, separated by commas")
	flag.StringVar(&o.share, "share", "", "try a share of the list only: 2/8 is the second of eight")
	flag.IntVar(&o.jobs, "jobs", 1, "how many bugs are tried at once")
	flag.BoolVar(&o.goOn, "continue", false, "leave out the bugs that were caught since the tree last changed")
	flag.BoolVar(&o.update, "update", false, "write to caught.txt what a search finds, instead of printing it")
	flag.BoolVar(&o.searchAnew, "search", false, "search each bug, whatever caught.txt says")
	flag.BoolVar(&o.hintsOnly, "hinted", false, "search nothing: a bug that its test in caught.txt does not catch is an error")
	flag.BoolVar(&o.fastOnly, "fast", false, "don't search in the full tier")
	flag.BoolVar(&o.raced, "race", false, "run the fast tier with the race detector from the start, as the gate does")
	flag.BoolVar(&o.buildOnly, "build", false, "only see whether each bug can be planted, builds and passes vet")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		return 1
	}
	return 0
}

func (o options) run(ctx context.Context) error {
	all, err := parse(listText)
	if err != nil {
		return err
	}
	bugs, err := chosen(all, o.only)
	if err == nil {
		bugs, err = shareOf(bugs, o.share)
	}
	if err != nil {
		return err
	}
	root, err := rootFolder(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "countersign-planted-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // remaining temporary files do no harm
	s, err := o.newSearch(ctx, root, dir)
	if err != nil {
		return err
	}
	rec, err := gotest.ReadRecord[result](filepath.Join(root, "bin", "planted.json"), fmt.Sprintf("%s race=%t build=%t", s.tree.digest, o.raced, o.buildOnly))
	if err != nil {
		return err
	}
	r := &run{search: s, record: rec, root: root, all: all, bugs: bugs, found: map[string]hint{}}
	if err := r.tryAll(ctx); err != nil {
		return err
	}
	return r.report()
}

func rootFolder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// newSearch copies the tree and checks that the copy builds.
func (o options) newSearch(ctx context.Context, root, dir string) (*search, error) {
	dir, err := filepath.EvalSymlinks(dir) // the go command resolves symbolic links
	if err != nil {
		return nil, err
	}
	s := &search{options: o, dir: filepath.Join(dir, "bugs"), tiers: chosenTiers(o.fastOnly, o.raced), hints: map[string]hint{}, passing: map[hint]bool{}}
	if s.tree, err = newTree(ctx, root, filepath.Join(dir, "tree")); err != nil {
		return nil, err
	}
	if err := s.tree.build(ctx); err != nil {
		return nil, fmt.Errorf("the tree does not build, so nothing can be planted in it: %w", err)
	}
	if s.packages, err = s.tree.goPackages(ctx); err != nil || o.searchAnew || o.buildOnly {
		return s, err
	}
	if s.hints, err = readHints(root); err != nil {
		return nil, err
	}
	for name, h := range s.hints {
		if o.raced && h.tier == fast.name {
			h.tier = fastRaced.name
			s.hints[name] = h
		}
	}
	return s, nil
}
