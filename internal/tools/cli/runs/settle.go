package runs

import (
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Settle is the command `runs settle`.
type Settle struct {
	ID       string `arg:"" help:"The run's id."`
	N        int64  `help:"The statement that it rests on; default: the latest." placeholder:"N"`
	Confirm  bool   `xor:"action" required:"" help:"The step ends by what the receiver says: DONE or WITHDRAWN."`
	Withdraw bool   `xor:"action" required:"" help:"The receiver never saw the key (UNSEEN): have it withdrawn; the step then ends."`
	Reason   string `required:"" help:"Why; kept in the audit log."`
	service.Asking
}

// Run settles the run's uncertain step by its receiver's own word.
func (x *Settle) Run(t *terminal.Terminal) error {
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
		return terminal.Unusablef("run %s is %s and has no uncertain step of which its receiver has said anything", x.ID, r.Status)
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
