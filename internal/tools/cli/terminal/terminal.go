// Package terminal is what a command has of its process: streams, environment, questions to a person,
// tables and progress, and the exit status that an error determines.
package terminal

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// Terminal is a command's access to its process: streams, environment, context.
type Terminal struct {
	Context context.Context
	Environ []string
	In      io.Reader
	Out     io.Writer // answers, and nothing else
	Errs    io.Writer // progress, questions and errors
}

// Getenv is the value of an environment variable, "" for none.
func (t *Terminal) Getenv(name string) string {
	for _, pair := range t.Environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			return v
		}
	}
	return ""
}

// Watched reports whether w is a terminal, so that progress is worth showing.
func Watched(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
