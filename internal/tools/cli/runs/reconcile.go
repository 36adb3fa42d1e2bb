package runs

import (
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/typed"
)

// Probe is the command `runs probe`.
type Probe struct {
	ID   string `arg:"" help:"The run's id."`
	Step string `arg:"" optional:"" help:"The step's id; default: the one that the run waits for."`
	service.Asking
}

// Run sends the probe. Its answer is evidence on the step and decides nothing.
func (p *Probe) Run(t *terminal.Terminal) error {
	c, err := p.Client(t)
	if err != nil {
		return err
	}
	if p.Step == "" {
		r, err := c.Run(t.Context, p.ID)
		if err != nil {
			return err
		}
		if p.Step = uncertain(r).ID; p.Step == "" {
			return terminal.Unusablef("run %s is %s and has no uncertain step to probe", p.ID, r.Status)
		}
	}
	r, err := c.ProbeRun(t.Context, p.ID, p.Step)
	if err != nil {
		return err
	}
	return p.Print(t, r, printUncertain(r))
}

// uncertain is the step of a run whose outcome is not known; its id is "" if there is none.
func uncertain(r *countersign.Run) countersign.StepRun {
	for _, s := range r.Steps {
		if s.Status == countersign.StepRecoveryRequired {
			return s
		}
	}
	return countersign.StepRun{}
}

// printUncertain prints the uncertain step, or if there is none the run's state.
func printUncertain(r *countersign.Run) func(io.Writer) {
	return func(w io.Writer) {
		if s := uncertain(r); s.ID != "" {
			printStep(w, &s, nil)
		} else {
			printState(w, r)
		}
	}
}

// Reconcile is the command `runs reconcile`.
type Reconcile struct {
	ID          string `arg:"" help:"The run's id."`
	Completed   bool   `xor:"resolution" required:"" help:"It was carried out; the run goes on."`
	NotExecuted bool   `xor:"resolution" required:"" help:"It was not; it is sent again under the same idempotency key, once approved anew where policy asks."`
	Abandon     bool   `xor:"resolution" required:"" help:"Nobody will know; the run ends CANCELLED."`
	Evidence    string `required:"" help:"How you know; kept on the step and in the audit log."`
	Result      string `help:"With --completed: what the project answered or would have, a JSON object, or @FILE." placeholder:"JSON"`
	Yes         bool   `help:"Ask no question."`
	service.Asking
}

// Help explains why the command asks for confirmation.
func (Reconcile) Help() string {
	return "What you say is taken for true: nothing checks whether the refund was paid but you. The step's expectation is judged on --result. On a terminal the step is shown and the resolution must be typed."
}

// Run reconciles the run's uncertain step.
func (x *Reconcile) Run(t *terminal.Terminal) error {
	w, err := x.write()
	if err != nil {
		return err
	}
	c, err := x.Client(t)
	if err != nil {
		return err
	}
	if !x.Yes {
		if err := x.ask(t, c, w); err != nil {
			return err
		}
	}
	r, err := c.ReconcileRun(t.Context, x.ID, w)
	if errors.Is(err, client.ErrExpectationNotMet) {
		return fmt.Errorf("%w (here with --result)", err)
	}
	if err != nil {
		return err
	}
	return x.Print(t, r, func(out io.Writer) { printState(out, r) })
}

func (x *Reconcile) write() (countersign.Reconcile, error) {
	w := countersign.Reconcile{Resolution: countersign.Abandon, Evidence: x.Evidence}
	switch {
	case x.Completed:
		w.Resolution = countersign.ConfirmedCompleted
	case x.NotExecuted:
		w.Resolution = countersign.ConfirmedNotExecuted
	}
	if safetext.Blank(x.Evidence) {
		return w, terminal.Unusablef("--evidence must say how you know")
	}
	if x.Result == "" {
		return w, nil
	}
	var err error
	w.Output, err = typed.ObjectOf("--result", x.Result)
	return w, err
}

// ask shows the uncertain step and asks the person to type the resolution.
func (x *Reconcile) ask(t *terminal.Terminal, c *client.Client, w countersign.Reconcile) error {
	if t.Interactive() {
		r, err := c.Run(t.Context, x.ID)
		if err != nil {
			return err
		}
		printUncertain(r)(t.Errs)
	}
	word := map[string]string{countersign.ConfirmedCompleted: "completed", countersign.ConfirmedNotExecuted: "not-executed", countersign.Abandon: "abandon"}[w.Resolution]
	return terminal.Confirm(t, fmt.Sprintf("\nReconcile run %s as %s?", x.ID, w.Resolution), word, "Look at the run, then add --yes")
}
