package linearizability

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkRules checks the rules of every final state.
func (f *fixture) checkRules() {
	f.t.Helper()
	f.must(f.store.View(background(), func(tx store.Tx) error {
		v, err := audit.Verify(tx, tenant)
		if err == nil && !v.Intact {
			f.t.Errorf("the audit log does not verify: %+v", v)
		}
		return err
	}))
	keys := map[string]string{}
	for _, r := range f.allRuns() {
		if other, twice := keys[r.IdempotencyKey]; twice {
			f.t.Errorf("S3: key %s has the runs %s and %s", r.IdempotencyKey, other, r.ID)
		}
		keys[r.IdempotencyKey] = r.ID
		f.checkRun(&r)
	}
	f.checkSlots()
}

// allRuns reads every run with its steps, in one snapshot.
func (f *fixture) allRuns() (list []countersign.Run) {
	f.t.Helper()
	f.must(f.store.View(background(), func(tx store.Tx) error {
		list = list[:0]
		stored, err := records.Runs.List(tx, tenant, store.Query{})
		if err != nil {
			return err
		}
		fresh := runrepo.New(runrepo.Config{}) // has nothing in memory
		for _, rec := range stored {
			r, err := fresh.Read(tx, runrepo.Ref{Tenant: tenant, RunID: rec.ID})
			if err != nil {
				return err
			}
			list = append(list, r.Run)
		}
		return nil
	}))
	return list
}

func (f *fixture) checkRun(r *countersign.Run) {
	f.t.Helper()
	for i := range r.Steps {
		s := &r.Steps[i]
		if r.Status == countersign.RunCompleted && !isDone(s) {
			f.t.Errorf("S1: run %s is %s", r.ID, picture(r))
		}
		if s.SideEffect && s.Attempt > 1 && !resentByAPerson(f, r.ID, s) {
			f.t.Errorf("D1: run %s was sent again by itself: %s", r.ID, picture(r))
		}
		if sent := len(f.receiver.deliveries(s.IdempotencyKey)); sent > s.Attempt {
			f.t.Errorf("D3: run %s was delivered %d times: %s", r.ID, sent, picture(r))
		}
	}
}

// isDone reports whether the step was verified, reconciled or rehearsed.
func isDone(s *countersign.StepRun) bool {
	switch s.Status {
	case countersign.StepSimulated:
		return true
	case countersign.StepCompleted:
		return s.Verification != nil && s.Verification.Status != countersign.VerificationFailed
	default:
		return false
	}
}

// resentByAPerson: for each further attempt there is an audit record of a person who confirmed that the one before had no
// effect.
func resentByAPerson(h *fixture, runID string, s *countersign.StepRun) bool {
	confirmed := 0
	for _, rec := range h.log("run/" + runID) {
		if rec.Action == "runs.reconcile" && rec.Step == s.ID && rec.After == string(countersign.StepPending) {
			confirmed++
		}
	}
	return confirmed >= s.Attempt-1
}

// checkSlots: the counted slots agree with the runs, and the limit holds.
func (f *fixture) checkSlots() {
	f.t.Helper()
	counted, active, err := f.slots(background())
	f.must(err)
	if counted != active || active > f.limit {
		f.t.Errorf("S3: %d slots are counted and %d runs are active, of at most %d", counted, active, f.limit)
	}
}
