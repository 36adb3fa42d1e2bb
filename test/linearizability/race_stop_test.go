package linearizability

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// flying is how many runs have a call in flight when the service stops.
const flying = 3

// TestAStopAgainstStartsAndAnswers: a service stops while runs start and calls are answered, with enough grace for the calls
// or without. Everything acknowledged is stored, nothing is sent after the stop, and the next service brings every run to its
// end without sending a side effect again.
func TestAStopAgainstStartsAndAnswers(t *testing.T) { lives(t, stopAmidst) }

// lives plays rounds on each store; each round is a service on the store that the one before has left.
func lives(t *testing.T, round func(h *fixture, n int)) {
	inLots(t, func(t *testing.T, opened store.Store, from, to int) { playLives(t, opened, from, to, round) })
}

func playLives(t *testing.T, s store.Store, from, to int, round func(h *fixture, n int)) {
	t.Helper()
	first := newFixture(t, s, wide)
	first.stop()
	for n := from; n < to && !t.Failed(); n++ {
		h := startOn(t, s, wide)
		h.plans = first.plans
		round(h, n)
	}
	startOn(t, s, wide).close()
}

func stopAmidst(h *fixture, n int) {
	h.t.Helper()
	grace := []time.Duration{patience, 0}[n%2]
	capability := []string{pay, look}[n/2%2]
	runs := append(h.several(flying, func() (countersign.Run, error) { return h.sent(capability) }), make([]countersign.Run, 8)...)
	errs := all(len(runs)+1, func(i int) (err error) {
		switch {
		case i < flying:
			h.receiver.release(call(&runs[i]), 1, good())
		case i < len(runs):
			runs[i], err = h.start(note)
		default:
			h.engine.Stop(grace)
		}
		return err
	})
	if count(errs, "") != len(errs) {
		h.t.Fatalf("the starts were answered %v", errs)
	}
	arrived := h.receiver.all()
	h.control.Close()
	next := startOn(h.t, h.store.Store, wide)
	for _, r := range runs {
		next.wantEndedWell(h, r, grace > 0)
	}
	next.stop()
	if late := h.receiver.all(); late != arrived {
		h.t.Errorf("%d requests were sent after the stop", late-arrived)
	}
}

// wantEndedWell: in this life or the one before, the run was completed and its side effect sent once; or the call was cut off
// and the run must be reconciled.
func (f *fixture) wantEndedWell(before *fixture, r countersign.Run, inTime bool) {
	f.t.Helper()
	f.receiver.open()
	is, err := f.await(r.ID, stands)
	f.must(err)
	sent := len(before.receiver.deliveries(call(&r))) + len(f.receiver.deliveries(call(&r)))
	switch {
	case is.Steps[0].SideEffect && sent > 1:
		f.t.Errorf("run %s was delivered %d times: %s", r.ID, sent, picture(&is))
	case is.Status == countersign.RunCompleted && sent > 0:
	case is.Status == countersign.RunRecoveryRequired && is.Steps[0].SideEffect && !inTime:
	default:
		f.t.Errorf("run %s, delivered %d times, is %s", r.ID, sent, picture(&is))
	}
}

// TestNoStepBeginsAfterAStop: the answers of first steps come while the service is told to stop. A second step begins before
// that, or in the next life.
func TestNoStepBeginsAfterAStop(t *testing.T) {
	lives(t, func(h *fixture, _ int) {
		h.t.Helper()
		plan := h.livePlan(step("pay", pay), step("note", note, "pay"))
		runs := h.several(flying, func() (countersign.Run, error) {
			out, err := h.control.StartRun(background(), ann, countersign.RunStart{PlanID: plan}, newID("key"))
			if err == nil {
				err = h.receiver.await(call(&out.Run), 1)
			}
			return out.Run, err
		})
		mark := newID("mark")
		errs := all(flying+1, func(i int) (err error) {
			if i < flying {
				h.receiver.release(call(&runs[i]), 1, good())
				return nil
			}
			h.repository.StopSteps()
			_, err = h.control.PutModel(background(), ada, mark, modelWrite(mark, "Mark", 0)) // marks the position of the stop in the log
			return err
		})
		h.must(errs[flying])
		h.stop()
		stopped := h.seq("model/"+mark, "models.write", "")
		for i := range runs {
			if sent := h.seq("run/"+runs[i].ID, "step.send", "note"); sent > stopped {
				h.t.Errorf("the service was stopped at %d of the log, and sent a step at %d", stopped, sent)
			}
		}
		h.wantDoneInTheNextLife(runs)
	})
}

func (f *fixture) wantDoneInTheNextLife(runs []countersign.Run) {
	f.t.Helper()
	next := startOn(f.t, f.store.Store, wide)
	defer next.stop()
	for i := range runs {
		r := next.mustReach(runs[i].ID, countersign.RunCompleted)
		for _, s := range r.Steps {
			if n := len(f.receiver.deliveries(s.IdempotencyKey)) + len(next.receiver.deliveries(s.IdempotencyKey)); n != 1 {
				f.t.Errorf("step %s of run %s was delivered %d times", s.ID, r.ID, n)
			}
		}
	}
}
