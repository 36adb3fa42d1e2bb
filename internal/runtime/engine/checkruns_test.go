package engine_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestAnOddErrorOfTheStoreEndsNoRun, whichever commit it meets, and no outcome is lost.
func TestAnOddErrorOfTheStoreEndsNoRun(t *testing.T) {
	for before := range 4 { // commits that come through first: the intents and outcomes of two steps
		synctest.Test(t, func(t *testing.T) {
			h := open(t, after(time.Second))
			p := h.register(step("pay", "pay"), step("look", "look", "pay"))
			commits := 0
			h.store.behind = func() {
				if commits++; commits == 1+before { // the start is the first
					h.store.odd.Store(3)
				}
			}
			ref := h.mustStart(p)
			time.Sleep(time.Minute)
			h.wantRun(ref, countersign.RunCompleted, completed, completed)
			if n := h.receiver.count(ref.RunID + ".pay"); n != 1 {
				t.Errorf("after %d commits: sent %d times", before, n)
			}
			h.stop()
			h.wantRules()
		})
	}
}

// TestARunIsBegunByItsOwnerAlone, whoever else is told of it: nobody adopts it, since
// its owner lives, and that finds it.
func TestARunIsBegunByItsOwnerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, atOnce), join(t, s, atOnce)
		p := one.register(step("pay", "pay"))
		woken := one.engine
		one.engine = other.engine // the start wakes the wrong one
		ref := one.mustStart(p)
		one.engine = woken
		time.Sleep(5 * time.Second)
		one.wantRun(ref, countersign.RunCompleted, completed)
		if len(other.receiver.keys()) > 0 {
			t.Errorf("the other one sent %v", other.receiver.keys())
		}
		one.stop()
		other.stop()
		one.wantRules()
	})
}

// TestAnUnreadableRunHoldsNobodyUp: it is taken off the queue and the slots, with a
// reason in the audit log, and the runs of others go on.
func TestAnUnreadableRunHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, calls.answer)
		p := h.register(step("refund", "refund"))
		var refs []runrepo.Ref
		for range limit + 2 {
			refs = append(refs, h.mustStart(p))
			synctest.Wait()
		}
		for _, ref := range refs {
			h.must(ref, approve())
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		h.lose(refs[limit])
		calls.one()
		synctest.Wait()
		ended := 0
		for _, ref := range refs[:limit] {
			if h.run(ref).Status == countersign.RunCompleted {
				ended++
			}
		}
		if ended != 1 {
			t.Errorf("%d runs ended; an unreadable one in the queue is in the way", ended)
		}
		time.Sleep(5 * time.Second) // the free slot is given
		h.wantRun(refs[limit+1], countersign.RunRunning, running)
		calls.all()
		time.Sleep(time.Second)
		h.wantRun(refs[limit+1], countersign.RunCompleted, completed)
		h.wantStranded(refs[limit])
		h.stop()
		h.wantRules()
	})
}

// TestAnUnreadableRunGivesItsSlotBack, at a start and amid its own step.
func TestAnUnreadableRunGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		p := h.register(step("pay", "pay"))
		amid := h.mustStart(p)
		synctest.Wait()
		h.lose(amid)
		time.Sleep(2 * time.Minute)
		h.wantStranded(amid)
		before := h.mustStart(p)
		synctest.Wait()
		h.lose(before)
		h = reopen(t, h.crash(), atOnce)
		h.wantStranded(before)
		h.stop()
		h.wantRules()
	})
}

// TestARunThatIsArchivedAmidACheckIsLeftAlone: it ended after the check had listed the active
// runs. No error is logged.
func TestARunThatIsArchivedAmidACheckIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStartUntold(h.register(step("pay", "pay")))
		var listed atomic.Bool
		act := func() {
			if listed.CompareAndSwap(false, true) {
				h.archive(ref)
			}
		}
		h.store.listed.Store(&act)
		time.Sleep(2500 * time.Millisecond)
		if said := h.log.String(); !listed.Load() || said != "" {
			t.Errorf("listed: %t; it logs %q", listed.Load(), said)
		}
		h.stop()
	})
}

// mustStartUntold starts a run of which the engine isn't told.
func (f *fixture) mustStartUntold(p *countersign.Plan) (ref runrepo.Ref) {
	f.t.Helper()
	ref = runrepo.Ref{Tenant: tenant, RunID: newID("run")}
	f.update(func(tx store.Tx) error {
		r := run.New(p, ref.RunID, "user:ada@example.com", ref.RunID, time.Now())
		_, err := f.runs.Start(tx, p, tenant, r, access.Requester{ID: "user:ada@example.com"}, runrepo.Request{ID: "req-1"})
		return err
	})
	return ref
}

// archive removes a run that ended, as the archiver does.
func (f *fixture) archive(ref runrepo.Ref) {
	f.t.Helper()
	f.update(func(tx store.Tx) error {
		err := tx.Delete(store.Unfinished, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
		return errors.Join(err, tx.Delete(store.Runs, ref.Tenant, ref.RunID))
	})
}

// lose removes the record of a run, as damage would.
func (f *fixture) lose(ref runrepo.Ref) {
	f.t.Helper()
	f.update(func(tx store.Tx) error { return tx.Delete(store.Runs, ref.Tenant, ref.RunID) })
}

func (f *fixture) wantStranded(ref runrepo.Ref) {
	f.t.Helper()
	f.view(func(tx store.Tx) error {
		u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
		if err != nil || u.State != records.Stranded {
			f.t.Errorf("run %s is listed as %+v, %v", ref.RunID, u, err)
		}
		said, err := audit.List(tx, ref.Tenant, audit.Filter{Subject: "run/" + ref.RunID, Action: "run.strand"}, 10, 0)
		if len(said.Items) != 1 || said.Items[0].Reason == "" {
			f.t.Errorf("the audit log says %+v", said.Items)
		}
		return err
	})
}
