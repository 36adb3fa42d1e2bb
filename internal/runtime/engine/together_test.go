package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// together starts a run with its first turn in one transaction, up to its commit. begun is nil where
// the run is only made.
func (f *fixture) together(p *countersign.Plan, besides func(tx store.Tx) error) (ref runrepo.Ref, begun runrepo.Begun, err error) {
	f.t.Helper()
	err = f.store.Update(context.Background(), func(tx store.Tx) error {
		if begun != nil {
			begun.Drop()
			begun = nil
		}
		ref = runrepo.Ref{Tenant: tenant, RunID: newID("run")} // another one in each try, as the use case does
		made, err := f.make(tx, p, ref)
		if err != nil {
			return err
		}
		if begun, err = f.engine.Begin(tx, made); err != nil || besides == nil {
			return err
		}
		return besides(tx)
	})
	return ref, begun, err
}

func (f *fixture) mustBegin(p *countersign.Plan) (runrepo.Ref, runrepo.Begun) {
	f.t.Helper()
	ref, begun, err := f.together(p, nil)
	if err != nil || begun == nil {
		f.t.Fatalf("the run isn't begun: %v", err)
	}
	return ref, begun
}

func (f *fixture) inOneCommit(p *countersign.Plan) runrepo.Ref {
	f.t.Helper()
	ref, begun := f.mustBegin(p)
	begun.Go()
	return ref
}

// TestAStartAndItsFirstIntentAreOneCommit: with the outcomes, n steps take n+1 commits, and the log
// says the same as of a run that was made first and begun then.
func TestAStartAndItsFirstIntentAreOneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("look", "look"), step("pay", "pay", "look"))
		commits := 0
		h.store.behind = func() { commits++ }
		ref := h.inOneCommit(p)
		synctest.Wait()
		h.store.behind = nil
		h.wantRun(ref, countersign.RunCompleted, completed, completed)
		if commits != 3 {
			t.Errorf("%d commits", commits)
		}
		h.wantPublished(ref.RunID)
		h.stop()
		h.wantAudit(ref.RunID, "runs.start user:ada@example.com", "run.run system", "step.send system", "step.complete system", "step.send system", "step.complete system", "run.complete system")
		h.wantRules()
	})
}

// TestNothingIsSentBeforeTheIntentIsCommitted: the intent is stored with the run, and until the start
// says that this is committed nothing leaves.
func TestNothingIsSentBeforeTheIntentIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(_ context.Context, c request.Call) request.Outcome {
			return ok(done)
		})
		ref, begun := h.mustBegin(h.register(step("pay", "pay")))
		time.Sleep(time.Minute) // checks of runs that nobody executes pass it by
		h.wantRun(ref, countersign.RunRunning, running)
		if n := len(h.receiver.keys()); n != 0 {
			t.Errorf("%d calls before the commit was heard of", n)
		}
		begun.Go()
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

// TestWhatIsNotCommittedIsNotSent: the transaction fails behind the first turn.
func TestWhatIsNotCommittedIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		refused := errors.New("refused")
		ref, begun, err := h.together(p, func(store.Tx) error { return refused })
		if !errors.Is(err, refused) || begun == nil {
			t.Fatal(err)
		}
		begun.Drop()
		time.Sleep(time.Minute)
		h.view(func(tx store.Tx) error {
			if _, err := h.runs.Load(tx, ref); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("the run is there: %v", err)
			}
			return nil
		})
		h.stop() // waits for nothing
		if n := len(h.receiver.keys()); n != 0 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestAStopWaitsForWhatAStartHasBegun, and cuts nothing off: an intent without a call would need a
// person at the next start, for a stop that nobody was harmed by.
func TestAStopWaitsForWhatAStartHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		ref, begun := h.mustBegin(p)
		stopped := make(chan struct{})
		go func() { h.stop(); close(stopped) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Fatal("the stop didn't wait for the start")
		default:
		}
		if _, later, err := h.together(p, nil); err != nil || later != nil {
			t.Errorf("a start amid a stop begins its run: %v", err)
		}
		begun.Go()
		<-stopped
		h.wantRun(ref, countersign.RunCompleted, completed)
	})
}

// TestAStopBeforeTheTurnLeavesTheRunReady for the next start, which begins it as any.
func TestAStopBeforeTheTurnLeavesTheRunReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		h.stop()
		ref, begun, err := h.together(p, nil)
		if err != nil || begun != nil {
			t.Fatalf("%v %v", begun, err)
		}
		next := reopen(t, h.store.Store, atOnce)
		synctest.Wait()
		next.wantRun(ref, countersign.RunCompleted, completed)
		next.stop()
	})
}

// TestACrashBehindTheCommitOfAStart is one behind an intent: a side effect waits for a person, and a
// read is sent.
func TestACrashBehindTheCommitOfAStart(t *testing.T) {
	for capability, want := range map[string]struct {
		run  countersign.RunStatus
		step countersign.StepStatus
	}{"pay": {countersign.RunRecoveryRequired, uncertain}, "look": {countersign.RunCompleted, completed}} {
		t.Run(capability, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t, atOnce)
				ref, begun := h.mustBegin(h.register(step("first", capability)))
				close(h.store.dead)
				begun.Drop()
				h.engine.Stop(0)
				next := reopen(t, h.store.Store, atOnce)
				synctest.Wait()
				next.wantRun(ref, want.run, want.step)
				next.stop()
				next.wantRules()
				if n := len(h.receiver.keys()); n != 0 {
					t.Errorf("%d calls before the crash", n)
				}
			})
		})
	}
}

// TestACancelBehindTheCommitEndsTheRead: the execution is known before the commit is.
func TestACancelBehindTheCommitEndsTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, after(time.Minute))
		ref, begun := h.mustBegin(h.register(step("look", "look")))
		h.must(ref, cancel())
		began := time.Now()
		begun.Go()
		synctest.Wait()
		h.wantRun(ref, countersign.RunCancelled, cancelled)
		if h.receiver.flying != 0 || !time.Now().Equal(began) {
			t.Errorf("%d calls on their way", h.receiver.flying)
		}
		h.stop()
	})
}

// TestTheFirstTurnJudgesAsEveryTurn: what holds a run back when it begins holds it back in the
// transaction that makes it.
func TestTheFirstTurnJudgesAsEveryTurn(t *testing.T) {
	stop := func(h *fixture) {
		h.update(func(tx store.Tx) error {
			_, err := records.Stops.Put(tx, store.Realm, records.StopID(tenant), &countersign.Stop{TenantID: tenant}, 0)
			return err
		})
	}
	for name, c := range map[string]struct {
		capability string
		before     func(h *fixture)
		run        countersign.RunStatus
		step       countersign.StepStatus
	}{
		"a person is asked":     {"refund", func(*fixture) {}, countersign.RunWaitingApproval, atTheGate},
		"steps are stopped":     {"pay", stop, "", pending},
		"the project changed":   {"pay", func(h *fixture) { h.changeProject(2, true) }, countersign.RunFailed, failed},
		"the project is closed": {"pay", func(h *fixture) { h.changeProject(1, false) }, countersign.RunFailed, failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, two := open(t, atOnce), open(t, atOnce)
				var runs []*countersign.Run
				for _, h := range []*fixture{one, two} {
					p := h.register(step("first", c.capability))
					c.before(h)
					var ref runrepo.Ref
					if h == one {
						ref = h.inOneCommit(p)
					} else {
						ref = h.mustStart(p)
					}
					synctest.Wait()
					runs = append(runs, h.run(ref))
					h.stop()
					h.wantRules()
					if n := len(h.receiver.keys()); n != 0 {
						t.Errorf("%d calls", n)
					}
				}
				r, was := runs[0], runs[1]
				if c.run != "" && r.Status != c.run || r.Steps[0].Status != c.step {
					t.Errorf("%s %s", r.Status, r.Steps[0].Status)
				}
				if r.Status != was.Status || r.Revision != was.Revision || r.Error != was.Error || r.Steps[0].Status != was.Steps[0].Status {
					t.Errorf("in one commit %s %d %q, in two %s %d %q", r.Status, r.Revision, r.Error, was.Status, was.Revision, was.Error)
				}
			})
		})
	}
}

// TestAFirstTurnThatFailsIsNoneOfTheStart: nothing of it is registered, and the run can be made alone.
func TestAFirstTurnThatFailsIsNoneOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		odd := errors.New("odd")
		h.store.poison.Store(&poison{runID: "", fail: func(string) error { return odd }})
		ref, begun, err := h.together(p, nil)
		if !errors.Is(err, odd) || begun != nil {
			t.Fatalf("%v %v", begun, err)
		}
		h.store.poison.Store(nil)
		h.wantNoRun(ref)
		ref = h.mustStart(p)
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
	})
}

func (f *fixture) wantNoRun(ref runrepo.Ref) {
	f.t.Helper()
	f.view(func(tx store.Tx) error {
		if _, err := f.runs.Load(tx, ref); !errors.Is(err, store.ErrNotFound) {
			f.t.Errorf("the run is there: %v", err)
		}
		return nil
	})
}

// TestAReplicaThatOthersTookForDeadBeginsNothing: its lease is asked for in the turn of the start.
func TestAReplicaThatOthersTookForDeadBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, atOnce), join(t, s, atOnce)
		p := one.register(step("pay", "pay"))
		ref := one.inOneCommit(p)
		synctest.Wait()
		one.wantRun(ref, countersign.RunCompleted, completed)
		one.update(func(tx store.Tx) error {
			return records.Replicas.Delete(tx, store.Realm, records.ReplicaID(one.keeper.ID()))
		})
		if _, begun, err := one.together(p, nil); err == nil || begun != nil {
			t.Errorf("%v %v", begun, err)
		}
		one.stop()
		other.stop()
		if n := len(one.receiver.keys()); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestAReplicasStartIsItsOwn: no other one takes it for a run that nobody executes.
func TestAReplicasStartIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, atOnce), join(t, s, atOnce)
		ref, begun := one.mustBegin(one.register(step("pay", "pay")))
		time.Sleep(takeOver) // both look for runs without a replica meanwhile
		other.wantRun(ref, countersign.RunRunning, running)
		begun.Go()
		synctest.Wait()
		other.wantRun(ref, countersign.RunCompleted, completed)
		one.stop()
		other.stop()
		other.wantRules()
	})
}
