// Command gate runs checks and reports their results: a progress line while they run, for each failure the
// command that repeats it alone, and one line with counts and time at the end.
//
//	go run ./test/gate                        what a change must pass
//	go run ./test/gate -all                   everything, part by part
//	go run ./test/gate -all -continue         the parts that have not passed since the tree last changed
//	go run ./test/gate -parts power,kill      these parts
//	go run ./test/gate -slice HEAD -within 7m parts that follow from the commit, within that time
//	go run ./test/gate -one ./internal/rules  the tests of one package, as the fast tier runs them
//	go run ./test/gate -list                  the parts of both tiers
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

func main() { os.Exit(status()) }

// errFailed says that a check failed; the failure was printed before.
var errFailed = errors.New("not everything passed")

func status() int {
	var o options
	flag.BoolVar(&o.all, "all", false, "run every part of the full tier")
	flag.BoolVar(&o.remaining, "continue", false, "leave out the parts that passed on this very tree")
	flag.StringVar(&o.names, "parts", "", "run these parts only, separated by commas")
	flag.StringVar(&o.slice, "slice", "", "run the parts of the full tier that follow from this commit")
	flag.DurationVar(&o.within, "within", 7*time.Minute, "with -slice: run the parts whose estimates fit into this time")
	flag.StringVar(&o.one, "one", "", "run the tests of these packages only, with arguments for them behind --")
	flag.StringVar(&o.run, "run", "", "with -one: run these tests only")
	list := flag.Bool("list", false, "list the parts and exit")
	flag.Parse()
	if *list {
		printParts(os.Stdout)
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		return 1
	}
	return 0
}

type options struct {
	all, remaining bool
	names, slice   string
	within         time.Duration
	one, run       string
}

// fast reports whether the fast tier is to run.
func (o options) fast() bool { return !o.all && o.names == "" && o.slice == "" }

func run(ctx context.Context, o options) (err error) {
	if o.one != "" {
		if err := trimPaths(ctx); err != nil {
			return err
		}
		return one(ctx, o.one, o.run, flag.Args())
	}
	parts, atOnce, err := chosen(ctx, o)
	if err != nil || len(parts) == 0 {
		return err
	}
	tree, err := treeNow(ctx)
	if err != nil {
		return err
	}
	passed, err := gotest.ReadRecord[bool](recordFile, tree)
	if err != nil {
		return err
	}
	if o.remaining {
		parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return passed.Results[p.name] })
		if len(parts) == 0 {
			fmt.Println("Every part has passed on this tree.")
			return nil
		}
	}
	if err := trimPaths(ctx); err != nil {
		return err
	}
	if o.fast() {
		remove, failed := temporary()
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	return newGate(passed).runAll(ctx, parts, atOnce)
}

// chosen returns the parts to run, and how many to run concurrently. In the fast tier some parts use the
// processors while another waits; the parts of the full tier would disturb each other.
func chosen(ctx context.Context, o options) (parts []part, atOnce int, err error) {
	switch {
	case o.names != "":
		parts, err = named(strings.Split(o.names, ","))
		return parts, 1, err
	case o.slice != "":
		parts, err = sliceOf(ctx, o.slice, o.within)
		return parts, 1, err
	case o.all:
		return full, 1, nil
	}
	return fast, 3, nil
}
