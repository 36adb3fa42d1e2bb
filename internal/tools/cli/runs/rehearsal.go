package runs

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Rehearsal is the command `runs rehearsal`.
type Rehearsal struct {
	ID string `arg:"" help:"A LIVE run's id."`
	service.Asking
}

// Help explains the comparison.
func (Rehearsal) Help() string {
	return "The run is compared with the last DRY_RUN run of the same plan content that completed, request by request and byte by byte. Where an input was bound to an earlier output, that output is filled in first."
}

// Run compares a run with its rehearsal.
func (r *Rehearsal) Run(t *terminal.Terminal) error {
	same := false
	err := service.ShowRecord(t, r.Asking, func(c *client.Client) (*countersign.Rehearsal, error) { return c.Rehearsal(t.Context, r.ID) }, printRehearsal,
		func(found *countersign.Rehearsal) {
			same = found.Verdict != countersign.RehearsalDifferent && found.Verdict != countersign.RehearsalNone
		})
	return terminal.VerdictOf(same, err)
}

var rehearsalVerdicts = map[string]string{
	countersign.RehearsalSame:      "SAME: it sends what was rehearsed",
	countersign.RehearsalDifferent: "DIFFERENT: it doesn't send what was rehearsed",
	countersign.RehearsalOpen:      "OPEN: nothing differs; not every step has its request yet",
	countersign.RehearsalNone:      "NONE: no rehearsal of this plan's content has completed",
}

func printRehearsal(w io.Writer, r *countersign.Rehearsal) {
	terminal.Facts(w, [2]string{"run", r.RunID}, [2]string{"rehearsal", r.RehearsalID}, [2]string{"rehearsed", words.Moment(r.RehearsedAt)}, [2]string{"verdict", rehearsalVerdicts[r.Verdict]})
	if len(r.Steps) == 0 {
		return
	}
	fmt.Fprintln(w)
	terminal.Table(w, []string{"step", "verdict", "bound", "sent"}, service.Rows(r.Steps, func(s countersign.RehearsedStep) []string {
		return []string{s.StepID, s.Verdict, strings.Join(s.Bound, ", "), s.SentDigest.Text()}
	}))
	for _, s := range r.Steps {
		for _, d := range s.Differences {
			fmt.Fprintf(w, "%s %s: rehearsed %s, sent %s\n", words.Plain(s.StepID), words.Plain(d.Path), words.Plain(words.Value(d.Rehearsed)), words.Plain(words.Value(d.Sent)))
		}
	}
}
