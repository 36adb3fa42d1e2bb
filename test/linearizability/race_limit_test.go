package linearizability

import (
	"sync"
	"testing"

	"github.com/countersign/countersign"
)

// TestStartsNeverExceedTheLimit: of fifty concurrent starts four get a slot, and no read ever shows a fifth active run.
func TestStartsNeverExceedTheLimit(t *testing.T) {
	race(t, narrow, 1, func(h *fixture, _ int) {
		unwatch := h.watchSlots()
		defer unwatch()
		runs, errs := h.startMany(50, pay)
		if count(errs, "") != narrow || count(errs, countersign.CodeCapacity) != 50-narrow {
			h.t.Errorf("the answers are %v", errs)
		}
		for _, id := range runs {
			h.finish(id)
		}
	})
}

// TestDecisionsAndReconcilesKeepTheLimit: approved and reconciled runs queue for a slot together with fifty starts. All of
// them get one in the end, and no read ever shows a fifth active run.
func TestDecisionsAndReconcilesKeepTheLimit(t *testing.T) {
	race(t, narrow, 1, func(h *fixture, _ int) {
		const each = 3
		open, uncertain := h.several(each, func() (countersign.Run, error) { return h.undecided(transfer) }), h.several(each, h.uncertain)
		unwatch := h.watchSlots()
		defer unwatch()
		runs := make([]string, 50)
		errs := all(50+2*each, func(i int) (err error) {
			switch n := i % 50; {
			case i < 50:
				var r countersign.Run
				r, err = h.start(pay)
				runs[i] = r.ID
			case n < each:
				err = h.decide(n, open[n].ApprovalID, countersign.ApprovalApproved)
			default:
				_, err = h.control.ReconcileRun(background(), reviewer(n), uncertain[n-each].ID, resolution(countersign.ConfirmedNotExecuted, ""))
			}
			return err
		})
		if n := count(errs[50:], ""); n != 2*each {
			h.t.Fatalf("the decisions and reconciles were answered %v", errs[50:])
		}
		started := count(errs[:50], "")
		if started > narrow || started+count(errs[:50], countersign.CodeCapacity) != 50 {
			h.t.Errorf("the starts were answered %v", errs[:50])
		}
		h.finishAll(runs, open, uncertain)
	})
}

// several makes n runs concurrently.
func (f *fixture) several(n int, begin func() (countersign.Run, error)) []countersign.Run {
	f.t.Helper()
	list := make([]countersign.Run, n)
	for _, err := range all(n, func(i int) (err error) {
		list[i], err = begin()
		return err
	}) {
		f.must(err)
	}
	return list
}

// startMany starts runs concurrently, and returns the started ones.
func (f *fixture) startMany(n int, capability string) (runs []string, errs []error) {
	list := make([]countersign.Run, n)
	errs = all(n, func(i int) (err error) {
		list[i], err = f.start(capability)
		return err
	})
	for i, err := range errs {
		if err == nil {
			runs = append(runs, list[i].ID)
		}
	}
	return runs, errs
}

// finishAll answers every call as it arrives, so that queued runs get a slot, and waits until every run is completed.
func (f *fixture) finishAll(runs []string, lists ...[]countersign.Run) {
	f.t.Helper()
	for _, list := range lists {
		for _, r := range list {
			runs = append(runs, r.ID)
		}
	}
	together(len(runs), func(i int) {
		if runs[i] != "" {
			f.answerUntilDone(runs[i])
		}
	})
}

func (f *fixture) answerUntilDone(runID string) {
	r, err := f.await(runID, func(r *countersign.Run) bool { return ended(r) || r.Steps[0].Status == countersign.StepRunning })
	if err == nil && !ended(&r) {
		if err = f.receiver.finish(call(&r), r.Steps[0].Attempt); err == nil {
			r, err = f.await(runID, ended)
		}
	}
	if err != nil || r.Status != countersign.RunCompleted {
		f.t.Errorf("run %s is %s: %v", runID, picture(&r), err)
	}
}

// watchSlots checks the slots after every commit until it is stopped.
func (f *fixture) watchSlots() (stop func()) {
	quit := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			counted, active, err := f.slots(background())
			if err != nil || counted != active || active > f.limit {
				f.t.Errorf("S3: %d slots are counted and %d runs are active, of at most %d: %v", counted, active, f.limit, err)
				return
			}
			select {
			case <-f.store.committed:
			case <-quit:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(quit); watcher.Wait() })
}
