package engine_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// TestSlotsGoToTheOldestFirst: six runs ask for approval and hold no slot; all
// are approved at once, and never are more than four READY or RUNNING. The two
// others wait, oldest first, and no new run starts before them.
func TestSlotsGoToTheOldestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, calls.answer)
		p := h.register(step("refund", "refund"))
		var refs []runrepo.Ref
		for range 6 {
			refs = append(refs, h.mustStart(p))
			synctest.Wait()
			time.Sleep(time.Second)
		}
		for _, ref := range refs {
			h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
		}
		for _, ref := range refs {
			h.must(ref, approve())
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		for i, ref := range refs {
			if i < limit {
				h.wantRun(ref, countersign.RunRunning, running)
				continue
			}
			r := h.wantRun(ref, countersign.RunWaitingApproval, atTheGate)
			if r.WaitingFor.Kind != countersign.WaitSlot || r.WaitingFor.Role != "" {
				t.Errorf("%+v", r.WaitingFor)
			}
		}
		if _, err := h.start(p); countersign.ErrorCode(err) != countersign.CodeCapacity {
			t.Errorf("a new start came to %v", err)
		}

		calls.one()
		synctest.Wait()
		h.wantRun(refs[4], countersign.RunRunning, running)
		h.wantRun(refs[5], countersign.RunWaitingApproval, atTheGate)
		if _, err := h.start(p); countersign.ErrorCode(err) != countersign.CodeCapacity {
			t.Errorf("a new start overtook the queue: %v", err)
		}
		calls.one()
		synctest.Wait()
		h.wantRun(refs[5], countersign.RunRunning, running)
		calls.one()
		synctest.Wait()
		late := h.mustStart(p) // a slot is free and nobody queues
		calls.all()
		synctest.Wait()
		for _, ref := range refs {
			h.wantRun(ref, countersign.RunCompleted, completed)
		}
		h.wantRun(late, countersign.RunWaitingApproval, atTheGate)
		h.stop()
		if h.receiver.flown != limit || len(h.receiver.keys()) != 6 {
			t.Errorf("%d calls at a time, %d in all", h.receiver.flown, len(h.receiver.keys()))
		}
		h.wantRules()
	})
}

// occupied fills every slot with a call that is held.
func (f *fixture) occupied() (refs []runrepo.Ref) {
	f.t.Helper()
	p := f.register(step("pay", "pay"))
	for range limit {
		refs = append(refs, f.mustStart(p))
	}
	synctest.Wait()
	return refs
}

func TestQueuedRunCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, only(calls.answer, "pay"))
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.occupied()
		h.must(ref, approve())
		h.must(ref, cancel())
		h.wantRun(ref, countersign.RunCancelled, cancelled)
		calls.all()
		synctest.Wait()
		h.stop()
		if n := h.receiver.count(ref.RunID + ".refund"); n > 0 {
			t.Errorf("the cancelled run sent %d requests", n)
		}
		h.wantRules()
	})
}

// Six unknown outcomes confirmed at once: a reconciled run queues as an approved
// one does.
func TestReconciledRunsKeepTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := hold()
		h := open(t, func(ctx context.Context, c request.Call) request.Outcome {
			if c.StepID == "pay" {
				return request.Outcome{Certainty: request.Unknown, Cause: "no answer"}
			}
			return calls.answer(ctx, c)
		})
		p := h.register(step("pay", "pay"), step("look", "look", "pay"))
		var refs []runrepo.Ref
		for range 6 {
			refs = append(refs, h.mustStart(p))
			synctest.Wait()
		}
		for _, ref := range refs {
			e := reconcile(countersign.ConfirmedCompleted)
			e.Output = map[string]countersign.Value{"state": countersign.String("done")}
			h.must(ref, e)
			time.Sleep(time.Millisecond)
		}
		for i, ref := range refs {
			if i < limit {
				h.wantRun(ref, countersign.RunRunning, completed, running)
			} else if r := h.wantRun(ref, countersign.RunRecoveryRequired, completed, pending); r.WaitingFor.Kind != countersign.WaitSlot {
				t.Errorf("%+v", r.WaitingFor)
			}
		}
		calls.all()
		synctest.Wait()
		for _, ref := range refs {
			h.wantRun(ref, countersign.RunCompleted, completed, completed)
		}
		h.stop()
		h.wantRules()
	})
}

func TestEverythingStopsWaitingInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Second))
		p := h.register(step("look", "look"), step("refund", "refund", "look"), step("pay", "pay", "refund"))
		var refs []runrepo.Ref
		for len(refs) < 12 {
			ref, err := h.start(p)
			if err == nil {
				refs = append(refs, ref)
			}
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		for _, ref := range refs {
			h.must(ref, approve())
		}
		time.Sleep(time.Minute)
		var ends []countersign.RunStatus
		for _, ref := range refs {
			ends = append(ends, h.run(ref).Status)
		}
		want := make([]countersign.RunStatus, 12)
		for i := range want {
			want[i] = countersign.RunCompleted
		}
		if diff := cmp.Diff(want, ends); diff != "" {
			t.Error(diff)
		}
		h.stop()
		h.wantRules()
	})
}

// What queued under a lower limit goes on at a start under a higher one, while
// the runs that held the slots still hold theirs.
func TestHigherLimitFreesTheQueueAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := hold(), hold()
		h := open(t, only(before.answer, "look"))
		queued := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		reads := h.register(step("look", "look"))
		for range limit {
			h.mustStart(reads)
		}
		synctest.Wait()
		h.must(queued, approve())
		left := h.crash()
		before.all()
		synctest.Wait()

		h = prepare(t, left, only(after.answer, "look"))
		h.runs = runrepo.New(runrepo.Config{
			MaxActive: 2 * limit, ApprovalTTL: ttl, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now,
		})
		h.engine = engine.New(h.store, h.runs, h.receiver, h, slog.New(slog.DiscardHandler))
		if err := h.engine.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.wantRun(queued, countersign.RunCompleted, completed)
		after.all()
		h.stop()
	})
}
