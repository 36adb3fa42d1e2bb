package engine_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

const (
	pending   = countersign.StepPending
	running   = countersign.StepRunning
	completed = countersign.StepCompleted
	failed    = countersign.StepFailed
	skipped   = countersign.StepSkipped
	cancelled = countersign.StepCancelled
	uncertain = countersign.StepRecoveryRequired
	atTheGate = countersign.StepWaitingApproval
)

func TestRunFromEndToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		refund := step("refund", "refund", "look")
		refund.InputBindings = map[string]countersign.Binding{"order": {StepID: "look", Field: "id"}}
		ref := h.mustStart(h.register(step("look", "look"), refund, step("pay", "pay", "refund")))
		time.Sleep(2 * time.Second)
		h.wantRun(ref, countersign.RunWaitingApproval, completed, atTheGate, pending)
		h.must(ref, approve())
		time.Sleep(3 * time.Second)
		r := h.wantRun(ref, countersign.RunCompleted, completed, completed, completed)
		h.stop()

		want := []string{ref.RunID + ".look", ref.RunID + ".refund", ref.RunID + ".pay"}
		if diff := cmp.Diff(want, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
		if sent := h.receiver.calls[1]; sent.Request.Body.Raw() != `{"order":"o-1"}` || sent.Input["order"].Raw() != `"o-1"` {
			t.Errorf("sent %+v", sent.Request)
		}
		a := h.approvals(ref)
		if len(a) != 1 || a[0].Status != countersign.ApprovalApproved || a[0].DecidedBy != "user:bob@example.com" || a[0].RequestDigest != r.Steps[1].RequestDigest.Text() {
			t.Errorf("%+v", a)
		}
		h.wantPublished(ref.RunID)
		h.wantAudit(ref.RunID, "runs.start user:ada@example.com", "run.run system", "step.send system", "step.complete system", "approval.request system", "run.wait system",
			"approvals.decide user:bob@example.com", "run.run system", "step.send system", "step.complete system", "step.send system", "step.complete system", "run.complete system")
		h.wantRules()
	})
}

// wantPublished: who watches sees the revisions rise, up to the last.
func (f *fixture) wantPublished(runID string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen[runID]
	if !slices.IsSortedFunc(seen, func(a, b countersign.Run) int { return int(a.Revision - b.Revision) }) || !seen[len(seen)-1].Status.IsTerminal() {
		f.t.Errorf("published %+v", seen)
	}
}

// wantAudit compares the log of a run, action and actor, oldest first.
func (f *fixture) wantAudit(runID string, want ...string) {
	f.t.Helper()
	f.view(func(tx store.Tx) error {
		page, err := audit.List(tx, tenant, audit.Filter{Subject: "run/" + runID}, 200, 0)
		var got []string
		for _, r := range slices.Backward(page.Items) {
			got = append(got, r.Action+" "+r.Actor)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Error(diff)
		}
		return err
	})
}

func TestWakingTwiceSendsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		ref := h.mustStart(h.register(step("pay", "pay")))
		for range 20 {
			h.engine.Wake(ref)
		}
		synctest.Wait()
		for range 20 {
			h.engine.Wake(ref)
		}
		time.Sleep(2 * time.Minute)
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		if n := len(h.receiver.keys()); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestARunThatStandsStillTakesNoTransaction: after what a person does to it there is
// nothing to commit.
func TestARunThatStandsStillTakesNoTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		commits := 0
		h.store.behind = func() { commits++ }
		h.must(ref, cancel())
		synctest.Wait()
		h.store.behind = nil
		h.wantRun(ref, countersign.RunCancelled, cancelled)
		h.stop()
		if commits != 1 {
			t.Errorf("a cancel took %d commits", commits)
		}
	})
}

// What is on its way when it is cancelled: a read is ended at once, with its
// context; a side effect never is, and its answer is kept as late.
func TestCancelOfAReadEndsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		ref := h.mustStart(h.register(step("look", "look"), step("pay", "pay", "look")))
		synctest.Wait()
		began := time.Now()
		h.must(ref, cancel())
		synctest.Wait()
		h.wantRun(ref, countersign.RunCancelled, cancelled, cancelled)
		if h.receiver.aborted != 1 || h.receiver.flying != 0 || !time.Now().Equal(began) {
			t.Errorf("%d aborted, %d on their way", h.receiver.aborted, h.receiver.flying)
		}
		h.stop()
		h.wantRules()
	})
}

func TestCancelOfASideEffectLetsItFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		ref := h.mustStart(h.register(step("pay", "pay")))
		synctest.Wait()
		h.must(ref, cancel())
		synctest.Wait()
		h.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		time.Sleep(2 * time.Minute)
		r := h.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		if late := r.Steps[0].Late; late == nil || late.Output.Raw() != done || h.receiver.aborted > 0 {
			t.Errorf("late %+v, %d aborted", late, h.receiver.aborted)
		}
		h.must(ref, reconcile(countersign.Abandon))
		h.stop()
		h.wantRun(ref, countersign.RunCancelled, countersign.StepAbandoned)
		h.wantRules()
	})
}

// The cancel may come when the read's intent is stored and its request not yet
// sent: then it is sent on a context that has ended.
func TestCancelBetweenIntentAndSendingEndsTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		p := h.register(step("look", "look"))
		var commits atomic.Int32
		h.store.behind = func() {
			if commits.Add(1) == 2 { // the start was the first
				time.Sleep(time.Second)
			}
		}
		ref := h.mustStart(p)
		synctest.Wait()
		h.must(ref, cancel())
		time.Sleep(2 * time.Second)
		h.wantRun(ref, countersign.RunCancelled, cancelled)
		if h.receiver.flying != 0 {
			t.Errorf("%d calls on their way, %d aborted", h.receiver.flying, h.receiver.aborted)
		}
		h.stop()
	})
}

func TestCancelledRunClosesItsApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.must(ref, cancel())
		a := h.approvals(ref)[0]
		if a.Status != countersign.ApprovalRejected || a.DecidedBy != countersign.SystemPrincipal || a.DecisionReason != "cancelled: user:ada@example.com: not wanted" {
			t.Errorf("%+v", a)
		}
		h.stop()
		h.wantAudit(ref.RunID, "runs.start user:ada@example.com", "run.run system", "approval.request system", "run.wait system",
			"runs.cancel user:bob@example.com", "approval.close user:bob@example.com", "run.cancel user:bob@example.com")
		if len(h.receiver.keys()) > 0 {
			t.Error("something was sent")
		}
	})
}

// TestChangeBetweenStepsStopsTheNext: the step in flight is taken in, the next
// never begins.
func TestChangeBetweenStepsStopsTheNext(t *testing.T) {
	tests := map[string]struct {
		change func(h *fixture)
		code   countersign.Code
	}{
		"project changed": {func(h *fixture) { h.changeProject(2, true) }, countersign.CodeDrift},
		"disabled":        {func(h *fixture) { h.changeProject(1, false) }, countersign.CodeProjectDisabled},
		"model suspended": {func(h *fixture) { h.changeModel(2, true) }, countersign.CodeDrift},
		"model resumed":   {func(h *fixture) { h.changeModel(2, false) }, countersign.CodeDrift},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, after(time.Minute))
				ref := h.mustStart(h.register(step("look", "look"), step("pay", "pay", "look"), step("more", "look", "pay")))
				synctest.Wait()
				test.change(h)
				time.Sleep(2 * time.Minute)
				r := h.wantRun(ref, countersign.RunFailed, completed, failed, skipped)
				if r.Steps[1].Error.Code != test.code || len(h.receiver.keys()) != 1 {
					t.Errorf("%+v, sent %v", r.Steps[1].Error, h.receiver.keys())
				}
				h.stop()
				h.wantRules()
			})
		})
	}
}

// An approval that comes after the change lets nothing out either.
func TestChangeUnderAnApprovalStopsTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.changeProject(1, false)
		h.must(ref, approve())
		synctest.Wait()
		h.wantRun(ref, countersign.RunFailed, failed)
		h.stop()
		if len(h.receiver.keys()) > 0 {
			t.Errorf("sent %v", h.receiver.keys())
		}
	})
}

func (f *fixture) changeProject(revision int64, enabled bool) {
	f.update(func(tx store.Tx) error {
		head, version, err := records.Projects.Get(tx, tenant, "acme-shop")
		if err != nil {
			return err
		}
		head.Revision, head.Enabled = revision, enabled
		_, err = records.Projects.Put(tx, tenant, "acme-shop", head, version)
		return err
	})
}

func (f *fixture) changeModel(revision int64, suspended bool) {
	f.update(func(tx store.Tx) error {
		head, version, err := records.Models.Get(tx, tenant, "refunds")
		if err != nil {
			return err
		}
		head.Revision, head.Suspended = revision, suspended
		_, err = records.Models.Put(tx, tenant, "refunds", head, version)
		return err
	})
}

// TestOutcomeIsKeptWhileTheStoreCannotWrite: nothing that came back is lost, and
// the next step waits for it.
func TestOutcomeIsKeptWhileTheStoreCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		ref := h.mustStart(h.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		h.store.full.Store(true)
		time.Sleep(10 * time.Minute)
		h.wantRun(ref, countersign.RunRunning, running, pending)
		h.store.full.Store(false)
		time.Sleep(3 * time.Second)
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
		if diff := cmp.Diff([]string{ref.RunID + ".pay", ref.RunID + ".look"}, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOutcomeTakesTheReserveAndTheNextStepWaits: on a full disk what came back is
// committed at once, and alone.
func TestOutcomeTakesTheReserveAndTheNextStepWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		ref := h.mustStart(h.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		h.store.full.Store(true) // the batch that finds the disk full is lost with all who are in it
		time.Sleep(time.Second + 10*time.Millisecond)
		h.store.tight.Store(true)
		h.store.full.Store(false)
		time.Sleep(10 * time.Minute)
		h.wantRun(ref, countersign.RunRunning, completed, pending)
		h.store.tight.Store(false)
		time.Sleep(3 * time.Second)
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
		if diff := cmp.Diff([]string{ref.RunID + ".pay", ref.RunID + ".look"}, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestOutcomeIsAloneOnADiskThatOthersFoundFull: its first try succeeds, in the
// reserve, and must not take the next step's intent along.
func TestOutcomeIsAloneOnADiskThatOthersFoundFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		ref := h.mustStart(h.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		h.store.tight.Store(true)
		time.Sleep(10 * time.Minute)
		h.wantRun(ref, countersign.RunRunning, completed, pending)
		h.store.tight.Store(false)
		time.Sleep(3 * time.Second)
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
		if diff := cmp.Diff([]string{ref.RunID + ".pay", ref.RunID + ".look"}, h.receiver.keys()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestStopOnAFullDiskWaitsForNoStep: only outcomes are worth its grace.
func TestStopOnAFullDiskWaitsForNoStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		ref := h.mustStart(h.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		h.store.tight.Store(true)
		time.Sleep(10 * time.Minute)
		began := time.Now()
		h.stop()
		if waited := time.Since(began); waited > 0 {
			t.Errorf("the stop took %s", waited)
		}
		h.wantRun(ref, countersign.RunRunning, completed, pending)
		h = reopen(t, h.store.Store, after(time.Second))
		time.Sleep(3 * time.Second)
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		h.stop()
	})
}

func TestUnknownOutcomeWaitsForAPersonAndIsSentAgainOnTheirWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(_ context.Context, c request.Call) request.Outcome {
			return request.Outcome{Certainty: request.Unknown, Cause: "no answer"}
		})
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.must(ref, approve())
		time.Sleep(2 * ttl)
		h.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		h.must(ref, reconcile(countersign.ConfirmedNotExecuted))
		synctest.Wait()
		h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		h.must(ref, approve())
		synctest.Wait()
		h.must(ref, run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.ConfirmedCompleted, Evidence: "seen", Output: map[string]countersign.Value{"state": countersign.String("done")}}})
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		calls := h.receiver.calls
		if len(calls) != 2 || calls[0].IdempotencyKey != calls[1].IdempotencyKey || calls[0].Request.URL != calls[1].Request.URL || len(h.approvals(ref)) != 2 {
			t.Errorf("%+v", calls)
		}
		h.wantRules()
	})
}
