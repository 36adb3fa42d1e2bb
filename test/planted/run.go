package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/countersign/countersign/test/gotest"
)

// run is one execution of the command.
type run struct {
	*search
	record *gotest.Record[result] // results by the bugs' names
	root   string
	all    []*bug // all bugs of the list
	bugs   []*bug // the chosen bugs

	mu    sync.Mutex // guards the following fields and the record
	done  int
	found map[string]hint // results of searches
}

// tryAll tries the bugs, several concurrently.
func (r *run) tryAll(ctx context.Context) error {
	left := r.left()
	if n := len(r.bugs) - len(left); n > 0 {
		fmt.Printf("%d of %d bugs were caught since the tree last changed\n", n, len(r.bugs))
	}
	if err := r.confirmHints(ctx, left); err != nil {
		return err
	}
	queue := make(chan *bug)
	var work sync.WaitGroup
	errs := make([]error, max(1, r.jobs))
	for i := range errs {
		work.Go(func() {
			for b := range queue {
				what := r.try(ctx, b)
				if ctx.Err() == nil { // after a cancellation there is no result
					errs[i] = errors.Join(errs[i], r.note(b, what, len(left)))
				}
			}
		})
	}
	for _, b := range left {
		if ctx.Err() == nil {
			queue <- b
		}
	}
	close(queue)
	work.Wait()
	return errors.Join(errs...)
}

// left returns the bugs that are still to be tried.
func (r *run) left() []*bug {
	var out []*bug
	for _, b := range r.bugs {
		if !r.goOn || r.record.Results[b.name].Is != caught {
			delete(r.record.Results, b.name)
			out = append(out, b)
		}
	}
	return out
}

// note records the result for a bug.
func (r *run) note(b *bug, what result, of int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	fmt.Printf("%d/%d %s\n", r.done, of, line(b, what))
	r.record.Results[b.name] = what
	err := r.record.Write()
	if what.found == nil {
		return err
	}
	r.found[b.name] = *what.found
	if !r.update {
		return err
	}
	// Read the file again: with -search, -race or -only r has only some of the hints.
	hints, unread := readHints(r.root)
	if unread != nil {
		return errors.Join(err, unread)
	}
	maps.Copy(hints, r.found)
	return errors.Join(err, writeHints(r.root, r.all, hints))
}

func line(b *bug, r result) string {
	text := fmt.Sprintf("%s %s (%s) after %.0f s", r.Is, b.name, strings.Join(b.rules, ", "), r.Seconds)
	if r.By != "" {
		text += ": " + r.By
	}
	return text
}

// tally counts results.
type tally struct{ tried, caught, fast, survived, failed, built int }

func (r *run) tally() tally {
	var n tally
	for _, b := range r.bugs {
		what, ok := r.record.Results[b.name]
		if !ok {
			continue
		}
		n.tried++
		switch what.Is {
		case caught:
			n.caught++
			if what.Fast {
				n.fast++
			}
		case survived:
			n.survived++
		case failed:
			n.failed++
		case builds:
			n.built++
		}
	}
	return n
}

// report prints the table, and returns an error if not enough bugs were caught.
func (r *run) report() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprint(w, "\nbug\tbreaks\twhat became of it\tseconds\n")
	for _, b := range r.bugs {
		if what, ok := r.record.Results[b.name]; ok {
			fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\n", b.name, strings.Join(b.rules, " "), strings.TrimSpace(what.Is+" "+firstLine(what.By)), what.Seconds)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(r.found) > 0 && !r.update {
		fmt.Printf("\nFor %s, which -update writes:\n", hintsFile)
		for _, b := range r.bugs {
			if h, ok := r.found[b.name]; ok {
				fmt.Print(hintLine(b, h))
			}
		}
	}
	n := r.tally()
	if r.buildOnly {
		fmt.Printf("\n%d of %d looked at, none tried: %d build, %d errors\n", n.tried, len(r.bugs), n.built, n.failed)
	} else {
		fmt.Printf("\n%d of %d tried: %d caught by the fast tier (%.1f %%), %d by the full tier only, %d survived, %d errors\n", n.tried, len(r.bugs), n.fast, n.share(), n.caught-n.fast, n.survived, n.failed)
	}
	return n.judge(len(r.bugs), r.buildOnly)
}

// fastShare is the percentage of the bugs that the fast tier must catch.
const fastShare = 95

func (t tally) share() float64 { return 100 * float64(t.fast) / float64(max(1, t.tried)) }

func (t tally) judge(wanted int, buildOnly bool) error {
	switch {
	case t.tried < wanted:
		return errors.New("not every bug was tried; -continue tries the others")
	case t.failed > 0 || t.survived > 0:
		return errors.New("not every bug was caught")
	case !buildOnly && t.share() < fastShare:
		return fmt.Errorf("the fast tier catches fewer than %d %%", fastShare)
	}
	return nil
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}
