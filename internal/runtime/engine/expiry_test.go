package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// actedOn is when a run was last seen to change.
func (f *fixture) actedOn(ref runrepo.Ref) time.Time {
	f.t.Helper()
	return f.run(ref).UpdatedAt
}

func (f *fixture) wantWithinASecond(ref runrepo.Ref, due time.Time) {
	f.t.Helper()
	if at := f.actedOn(ref); at.Before(due) || at.After(due.Add(time.Second)) {
		f.t.Errorf("run %s was acted on at %s; it was due at %s", ref.RunID, at, due)
	}
}

func TestUndecidedApprovalEndsTheRunWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		time.Sleep(123 * time.Millisecond)
		ref := h.mustStart(h.register(step("refund", "refund"), step("look", "look", "refund")))
		synctest.Wait()
		due := h.run(ref).WaitingFor.ExpiresAt
		time.Sleep(ttl - time.Nanosecond)
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate, pending)
		time.Sleep(time.Second + time.Nanosecond)
		r := h.wantRun(ref, countersign.RunFailed, failed, skipped)
		h.wantWithinASecond(ref, due)
		a := h.approvals(ref)[0]
		if r.Steps[0].Error.Code != countersign.CodeApprovalExpired || a.Status != countersign.ApprovalRejected || a.DecidedBy != countersign.SystemPrincipal {
			t.Errorf("%+v, approval %+v", r.Steps[0].Error, a)
		}
		if err := h.apply(ref, approve()); countersign.ErrorCode(err) != countersign.CodeStateConflict {
			t.Errorf("a later decision came to %v", err)
		}
		h.stop()
		h.wantRules()
	})
}

func TestApprovalThatLapsesInTheQueueIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, only(calls.answer, "pay"))
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		due := h.run(ref).WaitingFor.ExpiresAt
		h.occupied()
		time.Sleep(ttl / 2)
		h.must(ref, approve())
		time.Sleep(ttl)
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		h.wantWithinASecond(ref, due)
		list := h.approvals(ref)
		if len(list) != 2 || list[0].Status != countersign.ApprovalApproved || list[1].Status != countersign.ApprovalPending {
			t.Fatalf("%+v", list)
		}
		calls.all()
		synctest.Wait()
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate) // a free slot alone moves nothing
		h.must(ref, approve())
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		if n := h.receiver.count(ref.RunID + ".refund"); n != 1 {
			t.Errorf("sent %d times", n)
		}
		h.wantRules()
	})
}

func TestApprovedStepThatAStopHoldsIsAskedAnewWhenItsApprovalExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		due := h.run(ref).WaitingFor.ExpiresAt
		h.update(func(tx store.Tx) error {
			_, err := records.Stops.Put(tx, store.Realm, records.StopID(ref.Tenant), &countersign.Stop{TenantID: ref.Tenant}, 0)
			return err
		})
		time.Sleep(ttl / 2)
		h.must(ref, approve())
		synctest.Wait()
		if w := h.wantRun(ref, countersign.RunWaitingApproval, atTheGate).WaitingFor; w.Kind != countersign.WaitStop {
			t.Errorf("it waits for %+v", w)
		}
		time.Sleep(ttl)
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		h.wantWithinASecond(ref, due)
		list := h.approvals(ref)
		if len(list) != 2 || list[0].Status != countersign.ApprovalApproved || list[1].Status != countersign.ApprovalPending {
			t.Errorf("%+v", list)
		}
		h.stop()
		if n := h.receiver.count(ref.RunID + ".refund"); n != 0 {
			t.Errorf("sent %d times", n)
		}
	})
}

// TestManyApprovalsThatLapseAtOnceAreAllActedOn: more than one look holds.
func TestManyApprovalsThatLapseAtOnceAreAllActedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("refund", "refund"))
		var refs []runrepo.Ref
		for range 250 {
			refs = append(refs, h.mustStart(p))
			synctest.Wait()
		}
		due := time.Now().Add(ttl)
		time.Sleep(ttl + time.Second)
		for _, ref := range refs {
			h.wantRun(ref, countersign.RunFailed, failed)
			h.wantWithinASecond(ref, due)
		}
		h.stop()
	})
}

// A restart finds what expired while nothing ran.
func TestApprovalThatLapsedWhileStoppedIsActedOnAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		left := h.crash()
		time.Sleep(2 * ttl)
		h = reopen(t, left, atOnce)
		time.Sleep(time.Second)
		h.wantRun(ref, countersign.RunFailed, failed)
		h.stop()
		h.wantRules()
	})
}
