package approvals

import (
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Waiting is the command `waiting`.
type Waiting struct {
	Follow bool `help:"Go on, and print each change of it and each approval and run that changes, until the stream ends."`
	service.Asking
}

// Run prints what waits for whom the token stands.
func (x *Waiting) Run(t *terminal.Terminal) error {
	c, err := x.Client(t)
	if err != nil {
		return err
	}
	for e, err := range c.WatchDesk(t.Context) {
		if errors.Is(err, io.EOF) {
			return nil // the service, or the right to see, has ended
		}
		if err == nil && (e.Waiting != nil || x.Follow) {
			err = x.Output.Print(t, e, func(w io.Writer) { printDesk(w, e) })
		}
		if err != nil || e.Waiting != nil && !x.Follow {
			return err
		}
	}
	return nil
}

func printDesk(w io.Writer, e countersign.DeskEvent) {
	if e.Waiting != nil {
		fmt.Fprintf(w, "%d approvals, %d recoveries and %d changes wait for you\n", e.Waiting.Approvals, e.Waiting.Recoveries, e.Waiting.Changes)
		return
	}
	fmt.Fprintf(w, "%s %s changed\n", words.Plain(e.Changed.Kind), words.Plain(e.Changed.ID))
}
