package cli

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

// Terminal is what a command has of the process around it.
type Terminal struct {
	Context context.Context
	Environ []string
	In      io.Reader
	Out     io.Writer // answers, and nothing else
	Errs    io.Writer // progress, questions and refusals
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

// Watched reports whether a person looks at w, so that progress is worth
// showing.
func Watched(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
