package cli

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// RunsSettle is the command `runs settle`.
type RunsSettle struct {
	ID       string `arg:"" help:"The run's id."`
	N        int64  `help:"The statement that it rests on; default: the latest." placeholder:"N"`
	Confirm  bool   `xor:"action" required:"" help:"The step ends by what the receiver says: DONE or WITHDRAWN."`
	Withdraw bool   `xor:"action" required:"" help:"The receiver never saw the key (UNSEEN): have it withdrawn; the step then ends."`
	Reason   string `required:"" help:"Why; kept in the audit log."`
	Asking
}

// Run settles the run's uncertain step by its receiver's own word.
func (x *RunsSettle) Run(t *Terminal) error {
	c, err := x.Client(t)
	if err != nil {
		return err
	}
	r, err := c.Run(t.Context, x.ID)
	if err != nil {
		return err
	}
	s := uncertain(r)
	if s.ID == "" || len(s.Settlements) == 0 {
		return Unusablef("run %s is %s and has no uncertain step of which its receiver has said anything", x.ID, r.Status)
	}
	w := countersign.Settle{StepID: s.ID, N: x.N, Action: countersign.SettleConfirm, Reason: x.Reason}
	if w.N == 0 {
		w.N = s.Settlements[len(s.Settlements)-1].N
	}
	if x.Withdraw {
		w.Action = countersign.SettleWithdraw
	}
	if r, err = c.SettleRun(t.Context, x.ID, w); err != nil {
		return err
	}
	return x.Print(t, r, func(out io.Writer) { printState(out, r) })
}

// ProjectsAnswerKeys is the command `projects answer-keys`.
type ProjectsAnswerKeys struct {
	ID   string   `arg:"" help:"The project's id."`
	Keys []string `arg:"" optional:"" help:"The keys that it has from now on: one, or two while it changes; none: answers needn't be signed any more."`
	Asking
}

// Run changes the keys by which the project's receiver signs.
func (k *ProjectsAnswerKeys) Run(t *Terminal) error {
	return show(t, k.Asking, func(c *client.Client) (*countersign.Project, error) {
		keys := k.Keys
		if keys == nil {
			keys = []string{}
		}
		return c.PutAnswerKeys(t.Context, k.ID, countersign.AnswerKeysWrite{AnswerKeys: keys})
	}, func(w io.Writer, p *countersign.Project) {
		fmt.Fprintf(w, "%s has %d answer keys\n", p.ID, len(p.AnswerKeys))
	})
}
