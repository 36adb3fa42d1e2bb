package linearizability

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestACancelAgainstTheAnswerOfASideEffect: either the run is COMPLETED and the cancel came too late, or its outcome must be
// reconciled and the answer is kept; it is never CANCELLED before a person has said what happened.
func TestACancelAgainstTheAnswerOfASideEffect(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		is, told := h.cancelAgainstAnswer(pay)
		if told != nil {
			h.wantRun(is, countersign.RunCompleted, countersign.StepCompleted)
			return
		}
		h.wantRun(is, countersign.RunRecoveryRequired, countersign.StepRecoveryRequired)
		if late := is.Steps[0].Late; late == nil || late.Response == nil || late.Response.StatusCode != 200 || !is.CancelRequested {
			h.t.Errorf("run %s keeps the answer %+v; a cancel was asked for: %t", is.ID, late, is.CancelRequested)
		}
		if h.seq("run/"+is.ID, "run.cancel", "pay") >= 0 || h.seq("run/"+is.ID, "run.cancel", "") >= 0 {
			h.t.Errorf("run %s was CANCELLED in between: %+v", is.ID, h.log("run/"+is.ID))
		}
		is, err := h.control.ReconcileRun(background(), reviewer(0), is.ID, resolution(countersign.ConfirmedCompleted, "done"))
		h.must(err)
		h.wantRun(is, countersign.RunCancelled, countersign.StepCompleted)
	})
}

// TestACancelAgainstTheAnswerOfARead: a read changes nothing, so the run is CANCELLED or COMPLETED.
func TestACancelAgainstTheAnswerOfARead(t *testing.T) {
	race(t, wide, 1, func(h *fixture, _ int) {
		is, told := h.cancelAgainstAnswer(look)
		if told != nil {
			h.wantRun(is, countersign.RunCompleted, countersign.StepCompleted)
			return
		}
		h.wantRun(is, countersign.RunCancelled, countersign.StepCancelled)
	})
}

// cancelAgainstAnswer returns the run in its final state, and the error of the cancel.
func (f *fixture) cancelAgainstAnswer(capability string) (countersign.Run, error) {
	f.t.Helper()
	r, err := f.sent(capability)
	f.must(err)
	errs := all(2, func(i int) error {
		if i == 0 {
			f.receiver.release(call(&r), 1, good())
			return nil
		}
		_, err := f.control.CancelRun(background(), ann, r.ID, "not wanted")
		return err
	})
	if !oneOf(errs[1], "", countersign.CodeStateConflict) {
		f.t.Errorf("the cancel was answered %v", errs[1])
	}
	is, err := f.await(r.ID, stands)
	f.must(err)
	return is, errs[1]
}
