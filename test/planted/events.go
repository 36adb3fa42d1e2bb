package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// outcome is the result of a `go test`: the first test that failed, nil if none did, and the tests that
// passed.
type outcome struct {
	failed *failure
	passed map[check]bool
}

// check is a test: its package's folder and its name, "" for the package as a whole.
type check struct{ Package, Test string }

func (c check) String() string { return strings.TrimSpace(c.Package + " " + c.Test) }

// call repeats the check alone.
func (c check) call(t tier) call {
	out := call{tier: t, packages: []string{"./" + c.Package}, alone: c.Test != ""}
	if c.Test != "" {
		out.tests = []string{c.Test}
	}
	return out
}

// failure is a failed check.
type failure struct {
	check
	timeout bool
}

func (f failure) String() string {
	if f.timeout {
		return f.check.String() + " (timeout)"
	}
	return f.check.String()
}

// checkOf is the top-level test of an event: subtests may have random names.
func checkOf(e gotest.Event) check { return check{folderOf(e.Package), e.Top()} }

// folderOf is a package's folder below the root.
func folderOf(importPath string) string {
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/"), ".")
}

// watch reads the events of a `go test` until something has failed, or to the end. It returns an error if
// the events don't show how the tests ended.
func watch(out io.Reader, toTheEnd bool) (outcome, error) {
	w := watcher{outcome: outcome{passed: map[check]bool{}}, running: map[check]bool{}}
	for e, err := range gotest.Events(out) {
		if err == nil {
			err = w.event(e)
		}
		if err != nil || w.failed != nil && !toTheEnd {
			return w.outcome, err
		}
	}
	return w.outcome, nil
}

type watcher struct {
	outcome
	running map[check]bool
	timeout bool
}

func (w *watcher) event(e gotest.Event) error {
	c, top := checkOf(e), !e.OfSubtest()
	switch {
	case strings.HasPrefix(e.Output, "panic: test timed out after"):
		w.timeout = true
	case e.Action == "build-fail" || e.FailedBuild != "":
		return fmt.Errorf("tests do not build: %s", cmp.Or(e.ImportPath, e.FailedBuild))
	case e.Action == "run" && top:
		w.running[c] = true
	case e.Action == "pass" && top:
		w.passed[c] = true
		delete(w.running, c)
	case e.Action == "skip" && top:
		delete(w.running, c)
	case e.Action == "fail":
		w.fail(c)
	}
	return nil
}

// fail records a failure. If a package ends while exactly one of its tests is running, that test has ended
// it: a panic is not always reported for its test.
func (w *watcher) fail(c check) {
	if w.failed == nil {
		w.failed = &failure{check: c, timeout: w.timeout}
		if only, ok := w.onlyRunning(c.Package); ok && c.Test == "" {
			w.failed.check = only
		}
	}
	delete(w.running, c)
}

func (w *watcher) onlyRunning(folder string) (check, bool) {
	var out []check
	for c := range w.running {
		if c.Package == folder {
			out = append(out, c)
		}
	}
	if len(out) != 1 {
		return check{}, false
	}
	return out[0], true
}
