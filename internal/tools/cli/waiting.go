package cli

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
)

// Waiting is the command `waiting`.
type Waiting struct {
	Follow bool `help:"Go on, and print each change of it and each approval and run that changes."`
	Asking
}

// Run prints what waits for whom the token stands.
func (x *Waiting) Run(t *Terminal) error {
	c, err := x.Client(t)
	if err != nil {
		return err
	}
	var failed error
	err = c.WatchDesk(t.Context, func(e countersign.DeskEvent) bool {
		switch {
		case e.Waiting != nil:
			failed = x.Output.Print(t, e.Waiting, func(w io.Writer) {
				fmt.Fprintf(w, "%d approvals, %d recoveries, %d changes wait for you\n", e.Waiting.Approvals, e.Waiting.Recoveries, e.Waiting.Changes)
			})
		case x.Follow:
			failed = x.Output.Print(t, e.Changed, func(w io.Writer) { fmt.Fprintf(w, "%s %s changed\n", Plain(e.Changed.Kind), Plain(e.Changed.ID)) })
		}
		return failed == nil && x.Follow
	})
	if failed != nil {
		return failed
	}
	return err
}
