package runs

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Watch is the command `runs watch`.
type Watch struct {
	ID   string `arg:"" help:"The run's id."`
	Wait bool   `help:"Go on where a person is needed, until the run ends."`
	service.Asking
}

// Help explains when the command ends and with which status.
func (Watch) Help() string {
	return "Exit status 0: COMPLETED; 1: FAILED or CANCELLED; 5: a person is needed. With -o json each change is the run as one JSON document."
}

// Run watches the run.
func (r *Watch) Run(t *terminal.Terminal) error {
	c, err := r.Client(t)
	if err != nil {
		return err
	}
	return watch(t, c, r.Output, r.ID, r.Wait)
}

// watch prints a run's changes as they happen. It ends when the run has ended, or waits for a
// person and wait is not set.
func watch(t *terminal.Terminal, c *client.Client, o terminal.Output, id string, wait bool) error {
	var before countersign.Run
	for r, err := range c.WatchRun(t.Context, id) {
		if err != nil {
			return err
		}
		if err := o.Print(t, r, func(w io.Writer) { printChanges(w, &before, &r) }); err != nil {
			return err
		}
		if !wait && needsPerson(&r) {
			return terminal.StatusError{Status: terminal.ExitWaiting}
		}
		before = r
	}
	return terminal.VerdictOf(before.Status == countersign.RunCompleted, t.Context.Err())
}

func needsPerson(r *countersign.Run) bool {
	return r.WaitingFor != nil && r.WaitingFor.Kind != countersign.WaitSlot
}

// printChanges prints a line for each step that has changed, then one for the run.
func printChanges(w io.Writer, before, now *countersign.Run) {
	line := func(name, text string) {
		fmt.Fprintf(w, "%s  %-*s  %s\n", words.Moment(now.UpdatedAt), widest(now.Steps), words.Plain(name), words.Plain(text))
	}
	for i := range now.Steps {
		s := &now.Steps[i]
		if text := stepText(s); text != "" && (i >= len(before.Steps) || text != stepText(&before.Steps[i])) {
			line(s.ID, text)
		}
	}
	if text := runText(now); text != runText(before) {
		line("run", text)
	}
}

// widest is the width of the column of steps.
func widest(steps []countersign.StepRun) int {
	n := len("run")
	for i := range steps {
		n = max(n, len(steps[i].ID))
	}
	return n
}

// stepText is a step's status with its verification or error; "" before it has begun.
func stepText(s *countersign.StepRun) string {
	if s.Status == countersign.StepPending {
		return ""
	}
	text := string(s.Status)
	if s.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", s.Attempt)
	}
	if s.Verification != nil && s.Status != countersign.StepSimulated {
		text += "  " + words.Verdict(s.Verification)
	}
	if s.Error != nil {
		text += fmt.Sprintf("  %s: %s", s.Error.Code, s.Error.Message)
	}
	return words.JoinedBy("  ", text, s.HappenedWords())
}

// runText is a run's status with what it waits for or why it failed.
func runText(r *countersign.Run) string {
	text := string(r.Status)
	if r.CancelRequested && !r.Status.IsTerminal() {
		text += " (cancel requested)"
	}
	if why := words.First(waits(r), words.EndedBecause(r)); why != "" {
		text += "  " + why
	}
	return words.JoinedBy("  ", text, r.HappenedWords())
}
