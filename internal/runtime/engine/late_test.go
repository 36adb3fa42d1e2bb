package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// callTime is how long a call may take, and how long a resolution waits for it.
const (
	callTime   = countersign.DefaultCapabilityTimeoutMs * time.Millisecond
	answerable = callTime + 5*time.Second
)

// TestReconcileWaitsForTheCallOnItsWay: nobody says what became of it while this
// process may still see the answer, and what was sent is not cut off.
func TestReconcileWaitsForTheCallOnItsWay(t *testing.T) {
	for _, resolution := range []string{countersign.ConfirmedCompleted, countersign.ConfirmedNotExecuted, countersign.Abandon} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, after(callTime-time.Second))
			ref := h.mustStart(h.register(step("pay", "pay")))
			synctest.Wait()
			h.must(ref, cancel())
			h.wantTooEarly(ref, resolution)
			time.Sleep(callTime - time.Second)
			synctest.Wait()
			r := h.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
			if late := r.Steps[0].Late; late == nil || late.Output.Raw() != done || !r.WaitingFor.NotBefore.IsZero() || h.receiver.aborted > 0 {
				t.Errorf("late %+v, waits for %+v, %d aborted", late, r.WaitingFor, h.receiver.aborted)
			}
			h.must(ref, reconcile(countersign.Abandon))
			h.stop()
			h.wantRules()
		})
	}
}

// wantTooEarly checks that a resolution is refused, with the time from which it isn't.
func (f *fixture) wantTooEarly(ref runrepo.Ref, resolution string) {
	f.t.Helper()
	from := f.run(ref).WaitingFor.NotBefore
	err := f.apply(ref, reconcile(resolution))
	if countersign.ErrorCode(err) != countersign.CodeStateConflict || from.IsZero() || !strings.Contains(err.Error(), from.UTC().Format(time.RFC3339Nano)) {
		f.t.Errorf("%s while the call is on its way: %v", resolution, err)
	}
}

// TestAnAnswerIsKeptWhateverTheRunIsByThen: the caller outlived its time, as on a
// machine that slept.
func TestAnAnswerIsKeptWhateverTheRunIsByThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("pay", "pay")))
		synctest.Wait()
		h.must(ref, cancel())
		time.Sleep(answerable)
		h.must(ref, reconcile(countersign.Abandon))
		time.Sleep(time.Hour)
		r := h.wantRun(ref, countersign.RunCancelled, countersign.StepAbandoned)
		if late := r.Steps[0].Late; late == nil || late.Output.Raw() != done || h.receiver.aborted > 0 {
			t.Errorf("late %+v, %d aborted", late, h.receiver.aborted)
		}
		h.stop()
		h.wantRules()
	})
}

// TestTheFormOpensWhenTheTimeOfTheCallIsOver, unasked: viewers are told.
func TestTheFormOpensWhenTheTimeOfTheCallIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("pay", "pay")))
		synctest.Wait()
		h.must(ref, cancel())
		revision := h.run(ref).Revision
		time.Sleep(answerable + time.Minute)
		if r := h.run(ref); !r.WaitingFor.NotBefore.IsZero() || r.Revision != revision+1 {
			t.Errorf("revision %d waits for %+v", r.Revision, r.WaitingFor)
		}
		h.stop()
		h.wantRules()
	})
}

// TestARestartWaitsForNoAnswer: the one process of a directory is a new one.
func TestARestartWaitsForNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Hour))
		ref := h.mustStart(h.register(step("pay", "pay")))
		synctest.Wait()
		h.must(ref, cancel())
		h = reopen(t, h.crash(), atOnce)
		synctest.Wait()
		h.must(ref, reconcile(countersign.ConfirmedNotExecuted))
		h.wantRun(ref, countersign.RunCancelled, cancelled)
		h.stop()
		h.wantRules()
	})
}

// TestAtAnotherReplicaTheTimeEndsTheWaitAndNoLease: a lease ends the right to send, and no call.
func TestAtAnotherReplicaTheTimeEndsTheWaitAndNoLease(t *testing.T) {
	under := func(t *testing.T, f func(one, other *replica, ref runrepo.Ref)) {
		synctest.Test(t, func(t *testing.T) {
			s := rerun.Always(memory.New())
			one, other := join(t, s, after(time.Hour)), join(t, s, atOnce)
			ref := one.mustStart(one.longCall())
			synctest.Wait()
			other.must(ref, cancel())
			other.wantTooEarly(ref, countersign.ConfirmedNotExecuted)
			f(one, other, ref)
			other.stop()
			other.wantRules()
		})
	}
	t.Run("lease", func(t *testing.T) {
		under(t, func(one, other *replica, ref runrepo.Ref) {
			one.crash() // as far as the other one can tell, it may only be cut off from the store
			time.Sleep(takeOver)
			synctest.Wait()
			other.wantTooEarly(ref, countersign.ConfirmedNotExecuted)
			time.Sleep(30*time.Second + answerable - callTime)
			other.must(ref, reconcile(countersign.ConfirmedNotExecuted))
		})
	})
	t.Run("time", func(t *testing.T) {
		under(t, func(one, other *replica, ref runrepo.Ref) {
			time.Sleep(takeOver + time.Second)
			other.wantTooEarly(ref, countersign.ConfirmedNotExecuted) // the sender lives
			time.Sleep(time.Minute)
			other.must(ref, reconcile(countersign.ConfirmedNotExecuted))
			one.crash()
		})
	})
}

// longCall is a plan whose side effect may take longer than a lease.
func (r *replica) longCall() *countersign.Plan {
	return r.registerAs(func(p *countersign.Project) { p.Capability("pay").TimeoutMs = 30_000 }, step("pay", "pay"))
}

// TestACallThatBeginsLateEndsInTime: its commit took long, and a resolution waits for
// no more than its time.
func TestACallThatBeginsLateEndsInTime(t *testing.T) {
	for late, want := range map[time.Duration]time.Duration{0: callTime, 4 * time.Second: callTime, 8 * time.Second: answerable - 8*time.Second, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, atOnce)
			p := h.register(step("pay", "pay"))
			h.store.behind = func() {
				if begun, _ := h.intends(); begun {
					time.Sleep(late)
				}
			}
			ref := h.mustStart(p)
			synctest.Wait()
			time.Sleep(2 * time.Minute)
			h.stop()
			if got := h.receiver.calls[0].Timeout; got != want {
				t.Errorf("%s late: run %s may take %s, want %s", late, ref.RunID, got, want)
			}
		})
	}
}

// TestAReplicaThatIsCutOffKeepsItsCall: while its answer may come, nobody resolves the step at
// another replica, and nothing is sent a second time. The answer that it can't store before it
// ends is logged.
func TestAReplicaThatIsCutOffKeepsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, after(20*time.Second)), join(t, s, atOnce)
		ref := one.mustStart(one.longCall())
		synctest.Wait()
		began := time.Now()
		one.store.full.Store(true) // it can't write any more; its call goes on
		time.Sleep(takeOver)
		synctest.Wait()
		r := other.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		if want := began.Add(30*time.Second + answerable - callTime); !r.WaitingFor.NotBefore.Equal(want) {
			t.Errorf("another replica waits until %s, want %s", r.WaitingFor.NotBefore, want)
		}
		for _, resolution := range []string{countersign.ConfirmedNotExecuted, countersign.ConfirmedCompleted, countersign.Abandon} {
			other.wantTooEarly(ref, resolution)
		}
		time.Sleep(time.Minute)
		one.stop()
		if one.receiver.flying != 0 || other.receiver.count(ref.RunID+".pay") != 0 {
			t.Errorf("%d calls are under way, and the other replica has sent %d", one.receiver.flying, other.receiver.count(ref.RunID+".pay"))
		}
		if text := one.log.String(); !strings.Contains(text, "status=200") || !strings.Contains(text, "bodySha256=") {
			t.Errorf("the log doesn't say what the answer was that couldn't be stored: %s", text)
		}
		other.must(ref, reconcile(countersign.Abandon))
		other.stop()
	})
}
