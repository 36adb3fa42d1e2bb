package gotest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
)

// Event is a line of `go test -json`; see `go doc test2json`.
type Event struct {
	Action     string
	Package    string
	ImportPath string // the package that did not build

	FailedBuild string // the package whose failed build made this package fail
	Test        string
	Output      string
}

// Top is the top-level test of an event, "" for an event of a package.
func (e Event) Top() string {
	top, _, _ := strings.Cut(e.Test, "/")
	return top
}

// OfSubtest reports whether the event is of a subtest.
func (e Event) OfSubtest() bool { return e.Top() != e.Test }

// Events reads the output of `go test -json`. It skips other lines, which the go command or a program under test printed.
func Events(in io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for lines := bufio.NewReader(in); ; {
			line, err := lines.ReadBytes('\n')
			var e Event
			if json.Unmarshal(line, &e) == nil && e.Action != "" && !yield(e, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}
