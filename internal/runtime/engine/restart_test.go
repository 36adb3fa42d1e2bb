package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// TestRestartNeverResendsASideEffect: intent without outcome is RECOVERY_REQUIRED,
// however often the process dies.
func TestRestartNeverResendsASideEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		left := h.crash()
		for range 3 {
			h = reopen(t, left, atOnce)
			synctest.Wait()
			r := h.wantRun(ref, countersign.RunRecoveryRequired, uncertain, pending)
			if r.Revision != 3 || r.WaitingFor.Kind != countersign.WaitReconcile || len(h.receiver.keys()) > 0 {
				t.Errorf("revision %d waits for %+v, sent %v", r.Revision, r.WaitingFor, h.receiver.keys())
			}
			left = h.crash()
		}
		h = reopen(t, left, atOnce)
		h.must(ref, reconcile(countersign.ConfirmedNotExecuted))
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
		if diff := cmp.Diff([]string{ref.RunID + ".pay", ref.RunID + ".look"}, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
		h.wantRules()
	})
}

func TestRestartExecutesAReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("look", "look")))
		synctest.Wait()
		h = reopen(t, h.crash(), atOnce)
		synctest.Wait()
		r := h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		if r.Steps[0].Attempt != 2 || h.receiver.keys()[0] != ref.RunID+".look" {
			t.Errorf("attempt %d, sent %v", r.Steps[0].Attempt, h.receiver.keys())
		}
		h.wantRules()
	})
}

// An approval lets one request out; whether the first got out nobody knows.
func TestRestartAsksAnewForAnApprovedRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("inspect", "inspect")))
		synctest.Wait()
		h.must(ref, approve())
		synctest.Wait()
		h.wantRun(ref, countersign.RunRunning, running)
		h = reopen(t, h.crash(), atOnce)
		synctest.Wait()
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		h.must(ref, approve())
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

// The process died behind the commit of a start, and nobody was told.
func TestRestartTakesARunThatNobodyDrove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		h.store.behind = func() { h.store.behind = nil; close(h.store.dead) }
		ref := h.mustStart(p)
		synctest.Wait()
		h.engine.Stop(0)
		h = reopen(t, h.store.Store, atOnce)
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
	})
}

// TestRestartLeavesWhatWaits: approvals, their expiry, and the queue stay.
func TestRestartLeavesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, only(calls.answer, "pay"))
		p := h.register(step("refund", "refund"))
		undecided, queued := h.mustStart(p), h.mustStart(p)
		synctest.Wait()
		busy := h.occupied()
		h.must(queued, approve())
		due := h.run(undecided).WaitingFor.ExpiresAt
		revision := h.run(undecided).Revision
		left := h.crash()
		time.Sleep(ttl / 2)

		h = reopen(t, left, atOnce)
		synctest.Wait()
		if r := h.wantRun(undecided, countersign.RunWaitingApproval, atTheGate); !r.WaitingFor.ExpiresAt.Equal(due) || r.Revision != revision {
			t.Errorf("%+v at revision %d", r.WaitingFor, r.Revision)
		}
		for _, ref := range busy { // their side effects are uncertain, which frees the slots
			h.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		}
		h.wantRun(queued, countersign.RunCompleted, completed)
		h.must(undecided, approve())
		synctest.Wait()
		h.wantRun(undecided, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

// TestStopLetsTheCallInFlightFinish: its outcome is committed, nothing new
// begins, and the next start goes on from there.
func TestStopLetsTheCallInFlightFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(5*time.Second))
		p := h.register(step("pay", "pay"), step("look", "look", "pay"))
		ref := h.mustStart(p)
		synctest.Wait()
		began := time.Now()
		h.stop()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("the stop took %s", took)
		}
		h.wantRun(ref, countersign.RunRunning, completed, pending)
		h.engine.Wake(ref)
		time.Sleep(time.Minute)
		if len(h.receiver.keys()) != 1 || h.receiver.aborted > 0 {
			t.Errorf("sent %v, %d aborted", h.receiver.keys(), h.receiver.aborted)
		}
		h = reopen(t, h.store.Store, atOnce)
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
		if diff := cmp.Diff([]string{ref.RunID + ".look"}, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
		h.wantRules()
	})
}

func TestStopCompletesARunWhoseLastCallFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(5*time.Second))
		ref := h.mustStart(h.register(step("pay", "pay")))
		synctest.Wait()
		h.stop()
		h.wantRun(ref, countersign.RunCompleted, completed)
	})
}

// TestStopAtTheEndOfItsGrace: a side effect that is cut off is uncertain; a read
// is left to be executed again.
func TestStopAtTheEndOfItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		pay, look := h.mustStart(h.register(step("pay", "pay"))), h.mustStart(h.register(step("look", "look")))
		synctest.Wait()
		began := time.Now()
		h.stop()
		if took := time.Since(began); took != grace {
			t.Errorf("the stop took %s", took)
		}
		h.wantRun(pay, countersign.RunRecoveryRequired, uncertain)
		h.wantRun(look, countersign.RunRunning, running)
		h = reopen(t, h.store.Store, atOnce)
		synctest.Wait()
		h.wantRun(pay, countersign.RunRecoveryRequired, uncertain)
		h.wantRun(look, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

// What queued when the service stopped is driven on at the next start.
func TestStopHandsSlotsOnToTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, only(after(5*time.Second), "pay"))
		queued := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		busy := h.occupied()
		h.must(queued, approve())
		h.stop()
		for _, ref := range busy {
			h.wantRun(ref, countersign.RunCompleted, completed)
		}
		h.wantRun(queued, countersign.RunRunning, atTheGate) // it has its slot and has sent nothing
		if n := h.receiver.count(queued.RunID + ".refund"); n > 0 {
			t.Errorf("sent %d times after the stop", n)
		}
		h = reopen(t, h.store.Store, atOnce)
		synctest.Wait()
		h.wantRun(queued, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

func TestStopOfAnIdleEngineTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		began := time.Now()
		h.stop()
		if !time.Now().Equal(began) {
			t.Errorf("it took %s", time.Since(began))
		}
		h.engine.Wake(runrepo.Ref{Tenant: tenant, RunID: "run-none"})
	})
}
