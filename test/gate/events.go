package main

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// outcome is the result of a test, or of a package if Test is "".
type outcome struct {
	Package, Test string
	action        string // pass, fail or skip
	output        string // the output of a failed one
}

// reader converts the events of one `go test` to outcomes.
type reader struct {
	output map[string]*strings.Builder // of running tests, by package and test
	failed map[string]bool             // packages with a failed test
	report func(outcome)
}

func newReader(report func(outcome)) *reader {
	return &reader{output: map[string]*strings.Builder{}, failed: map[string]bool{}, report: report}
}

// read reads all events.
func (r *reader) read(in io.Reader) error {
	for e, err := range gotest.Events(in) {
		if err != nil {
			return err
		}
		r.take(e)
	}
	return nil
}

func (r *reader) take(e gotest.Event) {
	e.Package = cmp.Or(e.Package, e.ImportPath)
	key := e.Package + " " + e.Top() // a test's output is kept together with that of its subtests
	switch e.Action {
	case "output", "build-output":
		if r.output[key] == nil {
			r.output[key] = &strings.Builder{}
		}
		r.output[key].WriteString(e.Output)
	case "pass", "skip", "fail", "build-fail":
		r.end(e, key)
	}
}

// end reports a test or package that ended. A subtest belongs to its test; only a skipped one is
// reported, since its test passes without it.
func (r *reader) end(e gotest.Event, key string) {
	if e.OfSubtest() && e.Action != "skip" {
		return
	}
	o := outcome{Package: e.Package, Test: e.Test, action: strings.TrimPrefix(e.Action, "build-")}
	if o.action == "fail" {
		if text := r.output[key]; text != nil {
			o.output = text.String()
		}
		if e.Test == "" {
			o.output += r.unended(e.Package)
		}
		if e.Test == "" && (r.failed[e.Package] || e.FailedBuild != "") {
			o.output = "" // its failed tests or its build were reported
		}
		r.failed[e.Package] = true
	}
	if !e.OfSubtest() {
		delete(r.output, key)
	}
	r.report(o)
}

// unended is what the tests of a package have said that never ended: one that hangs until the
// timeout has the stacks of all goroutines in its output, and no outcome.
func (r *reader) unended(pkg string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(r.output)) {
		if test, is := strings.CutPrefix(key, pkg+" "); is && test != "" {
			b.WriteString("never ended: " + test + "\n" + r.output[key].String())
			delete(r.output, key)
		}
	}
	return b.String()
}
