package demo

import (
	"context"

	"github.com/countersign/countersign"
)

// awaitWord waits until an uncertain step is settled, or the shop has said something that leaves
// it open.
func (d *demo) awaitWord(ctx context.Context, runID, stepID string) (s countersign.StepRun, err error) {
	for _, err := range d.reviewer.WatchRun(ctx, runID) {
		if err != nil {
			return s, err
		}
		now, err := d.reviewer.Run(ctx, runID)
		if err != nil {
			return s, err
		}
		if s = stepOf(*now, stepID); s.Status != countersign.StepRecoveryRequired || leavesOpen(s) {
			break
		}
	}
	return s, nil
}

// leavesOpen reports that the shop's last word decides nothing: it doesn't know, or it isn't a
// statement. A call that is at work is asked about again.
func leavesOpen(s countersign.StepRun) bool {
	if len(s.Settlements) == 0 {
		return false
	}
	last := s.Settlements[len(s.Settlements)-1]
	return last.State == "" || last.State == countersign.KeyUnknown
}

// doubtOf says why a person is needed.
func doubtOf(s countersign.StepRun) string {
	last := s.Settlements[len(s.Settlements)-1]
	switch {
	case last.State == "":
		return "The shop says nothing that counts: " + last.Error + "."
	case last.Said != "":
		return "The shop says " + last.Said + ", and its log begins too late to rule out that it forgot."
	default:
		return "The shop doesn't know either."
	}
}

// showSettled shows what the shop said that settled a step.
func (d *demo) showSettled(s countersign.StepRun) {
	if s.SettledBy == nil {
		d.showResolution(s)
		return
	}
	said := s.Settlements[len(s.Settlements)-1]
	method := "GET"
	if said.Withdrawing {
		method = "POST"
	}
	d.print.row("asked", "%s %s", method, said.Target)
	if said.State == countersign.KeyDone {
		d.print.row("the shop", "%s; the answer that was lost is %d", said.State, said.StatusCode)
		d.print.block(said.Output)
	} else {
		d.print.row("the shop", "%s", said.State)
	}
	d.print.row("settled", "by the shop's word, without a person; signed by answer key")
	d.print.row("", "%s", s.SettledBy.KeyID)
}
