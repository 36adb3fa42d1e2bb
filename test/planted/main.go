// Command planted tries the planted bugs of bugs.txt: it makes each in a copy of
// the tree, one after the other, and runs the tests from fast to slow until one
// fails. A bug that no test notices is a survivor. A checker must catch what is
// known to be wrong before its silence counts.
//
//	go run ./test/planted [-only name,...] [-jobs n] [-build]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
)

func main() { os.Exit(status()) }

func status() int {
	only := flag.String("only", "", "try these bugs only, separated by commas")
	jobs := flag.Int("jobs", 1, "how many bugs are tried at once, each in a copy of its own")
	buildOnly := flag.Bool("build", false, "only see whether each bug can be planted, builds and passes vet")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *only, *jobs, *buildOnly); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, only string, jobs int, buildOnly bool) error {
	all, err := parse(listText)
	if err != nil {
		return err
	}
	bugs, err := chosen(all, only)
	if err != nil {
		return err
	}
	trees, err := newTrees(ctx, max(1, min(jobs, len(bugs))))
	defer func() {
		for _, t := range trees {
			_ = t.remove() // what is left in a temporary directory is nobody's loss
		}
	}()
	if err != nil {
		return err
	}
	return report(tryAll(ctx, trees, bugs, buildOnly), len(bugs), buildOnly)
}

// newTrees copies the working tree once, sees that the copy is whole, and copies
// that: whoever is changing a file meanwhile disturbs none of the bugs.
func newTrees(ctx context.Context, n int) ([]tree, error) {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, fmt.Errorf("git rev-parse: %w", err)
	}
	from := strings.TrimSpace(string(out))
	files, err := workingFiles(ctx, from)
	if err != nil {
		return nil, err
	}
	var trees []tree
	for range n {
		t, err := newTree(from, files)
		if err != nil {
			return trees, err
		}
		trees, from = append(trees, t), t.dir
		if len(trees) > 1 {
			continue
		}
		if err := t.build(ctx, "./..."); err != nil {
			return trees, fmt.Errorf("the tree is not whole, so nothing can be planted in it: %w", err)
		}
	}
	return trees, nil
}

// tryAll tries the bugs on the trees, each on the first that is free.
func tryAll(ctx context.Context, trees []tree, bugs []*bug, buildOnly bool) []result {
	var results []result
	var mu sync.Mutex
	var work sync.WaitGroup
	queue := make(chan *bug)
	for _, t := range trees {
		work.Go(func() {
			for b := range queue {
				r := t.try(ctx, b, buildOnly)
				mu.Lock()
				results = append(results, r)
				fmt.Printf("%d/%d %s\n", len(results), len(bugs), line(r, buildOnly))
				mu.Unlock()
			}
		})
	}
	for _, b := range bugs {
		if ctx.Err() == nil {
			queue <- b
		}
	}
	close(queue)
	work.Wait()
	slices.SortFunc(results, func(a, b result) int { return slices.Index(bugs, a.bug) - slices.Index(bugs, b.bug) })
	return results
}

func line(r result, buildOnly bool) string {
	text := fmt.Sprintf("%s %s (%s) after %.0f s", word(r.is, buildOnly), r.bug.name, strings.Join(r.bug.rules, ", "), r.seconds)
	if r.by != "" {
		text += ": " + r.by
	}
	return text
}

// word says what became of a bug; where no test was run, none could catch it.
func word(is string, buildOnly bool) string {
	if buildOnly && is == survived {
		return "builds"
	}
	return is
}

// report prints the table, and is an error when a bug survived or could not be
// tried.
func report(results []result, wanted int, buildOnly bool) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprint(w, "\nbug\tbreaks\twhat became of it\tseconds\n")
	count := map[string]int{}
	for _, r := range results {
		count[r.is]++
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\n", r.bug.name, strings.Join(r.bug.rules, " "), strings.TrimSpace(word(r.is, buildOnly)+" "+firstLine(r.by)), r.seconds)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if buildOnly {
		fmt.Printf("\n%d of %d looked at, none tried: %d build, %d errors\n", len(results), wanted, count[survived], count[failed])
	} else {
		fmt.Printf("\n%d of %d tried: %d caught, %d survived, %d errors\n", len(results), wanted, count[caught], count[survived], count[failed])
	}
	if len(results) < wanted || count[failed] > 0 || count[survived] > 0 && !buildOnly {
		return errors.New("not every bug was caught")
	}
	return nil
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}
