package cli

import (
	"bytes"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/internal/tools/cli/evidence"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// ended is the result of a command.
type ended struct {
	status    int
	out, errs string
}

// command runs a command line in this process.
func command(t *testing.T, args ...string) ended {
	t.Helper()
	var c struct { // as the program has them
		Commands
		Audit   evidence.Audit   `cmd:""`
		Receipt evidence.Receipt `cmd:""`
	}
	var out, errs bytes.Buffer
	parser, err := kong.New(&c, kong.Name("countersign"), kong.Writers(&out, &errs))
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := parser.Parse(args)
	if err != nil {
		return ended{terminal.ExitUnusable, out.String(), err.Error()}
	}
	status := terminal.Report(&errs, chosen.Run(&terminal.Terminal{Context: t.Context(), In: &bytes.Buffer{}, Out: &out, Errs: &errs}))
	return ended{status, out.String(), errs.String()}
}
