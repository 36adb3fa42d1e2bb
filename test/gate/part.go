package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// part is a named unit of the gate that can be run, repeated and continued: either one call of `go test`,
// whose tests are counted one by one, or some commands, each counted as one check.
type part struct {
	name     string
	guards   string
	estimate time.Duration // on two processors, with a warm build cache

	packages string // package patterns of go test, separated by spaces
	long     string // the packages that take long, the longest first: started last, they would run alone at the end
	flags    string // flags of go test
	args     string // arguments of the test binaries

	prepare  string   // a command that writes to the working tree, which others read: it runs before all parts
	compiles string   // a command that compiles what other parts need too: it runs before all parts, too
	commands []string // run by bash from the root, one after the other
}

// goTest is the call of `go test`, with additional flags before the packages.
func (p part) goTest(packages []string, more ...string) []string {
	words := append([]string{"go", "test", "-vet=off", "-timeout=" + hanging}, strings.Fields(p.flags)...)
	words = append(append(words, more...), packages...)
	return append(words, strings.Fields(p.args)...)
}

// hanging is the timeout of a test binary, five times what the longest of them needs.
const hanging = "30m"

// named finds parts of either tier.
func named(names []string) ([]part, error) {
	var out []part
	for _, name := range names {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(everyPart(), func(p part) bool { return p.name == name })
		if at < 0 {
			return nil, fmt.Errorf("no part is named %q; -list shows them", name)
		}
		out = append(out, everyPart()[at])
	}
	return out, nil
}

// everyPart are the parts of both tiers; a part in both occurs twice.
func everyPart() []part { return slices.Concat(fast, full) }

func printParts(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, tier := range []struct {
		title string
		parts []part
	}{{"make test", fast}, {"make test-all", full}} {
		fmt.Fprintf(w, "%s\tminutes\tguards\n", tier.title)
		for _, p := range tier.parts {
			fmt.Fprintf(w, "  %s\t%.1f\t%s\n", p.name, p.estimate.Minutes(), p.guards)
		}
	}
	_ = w.Flush() // writes to a terminal
}
