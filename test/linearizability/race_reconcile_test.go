package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

var resolutions = []string{countersign.ConfirmedCompleted, countersign.ConfirmedNotExecuted, countersign.Abandon}

// TestOfManyReconcilesOneCounts: several people reconcile one side effect concurrently; one reconcile counts, and the run's
// result follows from it.
func TestOfManyReconcilesOneCounts(t *testing.T) {
	race(t, wide, 1, func(h *fixture, n int) {
		r, err := h.uncertain()
		h.must(err)
		what := func(i int) string { return resolutions[(i+n)%len(resolutions)] }
		errs := all(2+n%7, func(i int) error {
			_, err := h.control.ReconcileRun(background(), reviewer(i), r.ID, resolution(what(i), "done"))
			return err
		})
		winner := h.wantOneWinner(errs, countersign.CodeStateConflict)
		is, err := h.await(r.ID, func(is *countersign.Run) bool { return ended(is) || is.Steps[0].Attempt == 2 })
		h.must(err)
		if said := is.Steps[0].Reconciliation; said == nil || said.By != reviewer(winner).ID || said.Resolution != what(winner) {
			h.t.Errorf("run %s was reconciled %+v, want %s by %s", r.ID, said, what(winner), reviewer(winner).ID)
		}
		h.wantResolved(is, what(winner))
	})
}

func (f *fixture) wantResolved(r countersign.Run, resolution string) {
	f.t.Helper()
	sent := 1
	switch resolution {
	case countersign.ConfirmedCompleted:
		f.wantRun(r, countersign.RunCompleted, countersign.StepCompleted)
	case countersign.Abandon:
		f.wantRun(r, countersign.RunCancelled, countersign.StepAbandoned)
	default:
		f.wantRun(f.finish(r.ID), countersign.RunCompleted, countersign.StepCompleted)
		sent = 2
	}
	if n := len(f.receiver.deliveries(call(&r))); n != sent {
		f.t.Errorf("run %s was delivered %d times, want %d", r.ID, n, sent)
	}
}

// TestACancelAgainstAReconcile: an uncertain run can't be canceled; a run whose request will be sent again can, and then the
// request is not sent or is uncertain once more.
func TestACancelAgainstAReconcile(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		r, err := h.uncertain()
		h.must(err)
		errs := all(2, func(i int) error {
			if i == 0 {
				_, err := h.control.ReconcileRun(background(), reviewer(0), r.ID, resolution(countersign.ConfirmedNotExecuted, ""))
				return err
			}
			_, err := h.control.CancelRun(background(), ann, r.ID, "not wanted")
			return err
		})
		h.must(errs[0])
		is, err := h.await(r.ID, func(is *countersign.Run) bool { return ended(is) || is.Steps[0].Attempt == 2 })
		h.must(err)
		if !ended(&is) {
			is = h.finish(r.ID)
		}
		switch {
		case oneOf(errs[1], countersign.CodeStateConflict):
			h.wantRun(is, countersign.RunCompleted, countersign.StepCompleted)
		case errs[1] != nil:
			h.t.Errorf("the cancel was answered %v", errs[1])
		case is.Steps[0].Attempt == 1:
			h.wantRun(is, countersign.RunCancelled, countersign.StepCancelled)
		default:
			h.wantRun(is, countersign.RunRecoveryRequired, countersign.StepRecoveryRequired)
		}
	})
}
