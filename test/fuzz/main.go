// Command fuzz runs every fuzz target for about as long as is asked. A target runs a number of
// executions and not a time: at the end of a time the tool may report a worker that still
// answers as a failure, without any input.
//
//	go run ./test/fuzz -for 10s
//	go run ./test/fuzz -for 10m -only FuzzPlan
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	length := flag.Duration("for", time.Minute, "about how long each target is run")
	only := flag.String("only", "", "run the targets only whose names have this text")
	flag.Parse()
	targets, err := find()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, t := range targets {
		if strings.Contains(t.name, *only) {
			failed = t.run(*length) != nil || failed
		}
	}
	if failed {
		os.Exit(1)
	}
}

// target is a fuzz target.
type target struct{ pkg, name string }

var declared = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9]*)\(`)

// find lists the targets of all packages.
func find() (all []target, err error) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{.Dir}}{{range .TestGoFiles}} {{.}}{{end}}{{range .XTestGoFiles}} {{.}}{{end}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for _, file := range words[2:] {
			text, err := os.ReadFile(words[1] + "/" + file)
			if err != nil {
				return nil, err
			}
			for _, m := range declared.FindAllSubmatch(text, -1) {
				all = append(all, target{words[0], string(m[1])})
			}
		}
	}
	slices.SortFunc(all, func(a, b target) int { return strings.Compare(a.pkg+a.name, b.pkg+b.name) })
	return all, nil
}

// tried is how many executions tell how fast a target is.
const tried = 2000

// run runs a target: first a few executions, then as many as take the time at their rate.
func (t target) run(length time.Duration) error {
	fmt.Printf("== %s:%s\n", t.pkg, t.name)
	rate, err := t.execute(tried)
	if more := int64(float64(rate) * length.Seconds()); err == nil && more > tried {
		_, err = t.execute(more)
	}
	return err
}

// executed is the tool's last line but its result: executions, and how many of them a second.
var executed = regexp.MustCompile(`execs: \d+ \((\d+)/sec\)`)

// execute runs a number of executions, and returns how many the tool made a second at most.
func (t target) execute(n int64) (rate int64, err error) {
	var shown bytes.Buffer
	cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", fmt.Sprintf("%dx", n), t.pkg)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &shown), os.Stderr
	err = cmd.Run()
	for _, m := range executed.FindAllSubmatch(shown.Bytes(), -1) {
		a, _ := strconv.ParseInt(string(m[1]), 10, 64) // digits, by the pattern
		rate = max(rate, a)
	}
	return rate, err
}
