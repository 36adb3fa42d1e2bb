package runs

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Hold is the command `runs hold`.
type Hold struct {
	ID     string `arg:"" help:"The run's id."`
	End    bool   `help:"End the hold, which weakens."`
	Reason string `required:"" help:"Why; kept in the audit log."`
	service.Asking
}

// Run holds the run, or ends that.
func (h *Hold) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, h.Asking, func(c *client.Client) (*countersign.Run, error) {
		return c.HoldRun(t.Context, h.ID, countersign.HoldWrite{Hold: !h.End, Reason: h.Reason})
	}, func(w io.Writer, r *countersign.Run) {
		if r.Hold != nil {
			fmt.Fprintf(w, "%s is neither redacted nor archived until the hold is ended\n", r.ID)
			return
		}
		fmt.Fprintf(w, "%s is not held\n", r.ID)
	})
}

// Redact is the command `runs redact`.
type Redact struct {
	ID     string `arg:"" help:"The run's id."`
	Reason string `required:"" help:"Why; kept in the audit log, so name nobody in it."`
	service.Asking
}

// Run redacts the run.
func (x *Redact) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, x.Asking, func(c *client.Client) (*countersign.Run, error) { return c.RedactRun(t.Context, x.ID, x.Reason) }, func(w io.Writer, r *countersign.Run) {
		fmt.Fprintf(w, "%s holds nothing any more but ids, principals, times, statuses, codes, names, decisions and digests\n", r.ID)
	})
}
