package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what did not build

	FailedBuild string // of a package that failed since this did not build
	Test        string
	Output      string
}

// outcome is what became of a test, or of a package as a whole where Test is "".
type outcome struct {
	Package, Test string
	action        string // pass, fail or skip
	output        string // of one that failed
}

// reader turns the events of one `go test` into outcomes.
type reader struct {
	output map[string]*strings.Builder // by package and test, of those that run
	failed map[string]bool             // packages of which a test failed
	tell   func(outcome)
}

func newReader(tell func(outcome)) *reader {
	return &reader{output: map[string]*strings.Builder{}, failed: map[string]bool{}, tell: tell}
}

// read reads events to their end. Lines that are none are the go command's own.
func (r *reader) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil && e.Action != "" {
			r.take(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) take(e event) {
	e.Package = cmp.Or(e.Package, e.ImportPath)
	top, _, _ := strings.Cut(e.Test, "/") // a test's output is kept together with that of its subtests
	key := e.Package + " " + top
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

// end tells of a test or package that ended. A subtest is part of its test, but one
// that was skipped is told of: its test passes without it.
func (r *reader) end(e event, key string) {
	if strings.Contains(e.Test, "/") && e.Action != "skip" {
		return
	}
	o := outcome{Package: e.Package, Test: e.Test, action: strings.TrimPrefix(e.Action, "build-")}
	if o.action == "fail" {
		if text := r.output[key]; text != nil {
			o.output = text.String()
		}
		if e.Test == "" && (r.failed[e.Package] || e.FailedBuild != "") {
			o.output = "" // its tests have told, or its build
		}
		r.failed[e.Package] = true
	}
	if !strings.Contains(e.Test, "/") {
		delete(r.output, key)
	}
	r.tell(o)
}
