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
	ImportPath string // of what did not build

	FailedBuild string // of a package that failed since this did not build
	Test        string
	Output      string
}

// Top is the test of the first level that an event is about, "" for a package.
func (e Event) Top() string {
	top, _, _ := strings.Cut(e.Test, "/")
	return top
}

// OfSubtest reports an event of a test below the first level.
func (e Event) OfSubtest() bool { return e.Top() != e.Test }

// Events reads what `go test -json` prints. Lines that are no events were printed by
// the go command or by a program that a test ran.
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
