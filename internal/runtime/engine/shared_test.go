package engine_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/engine"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// replica is a house that shares its store with others.
type replica struct {
	*fixture
	keeper *lease.Keeper
}

// join starts one more process on a store.
func join(t *testing.T, s store.Store, a answering) *replica {
	t.Helper()
	h := prepare(t, s, a)
	id := newID("replica")
	keeper, err := lease.Join(context.Background(), h.store, id, "test")
	if err != nil {
		t.Fatal(err)
	}
	h.runs = runrepo.New(runrepo.Config{
		MaxActive: limit, ApprovalTTL: ttl, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: time.Now, Replica: id,
	})
	h.engine = engine.New(h.store, h.runs, h.receiver, h, slog.New(slog.NewTextHandler(&h.log, nil)))
	h.engine.Share(keeper, lease.Every)
	if err := h.engine.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return &replica{h, keeper}
}

// takeOver is how long it takes at most until a dead process's runs are driven on.
const takeOver = lease.Length + 2*time.Second

func TestADeadReplicasSideEffectIsNeverSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, after(time.Hour)), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		one.crash()
		time.Sleep(takeOver)
		synctest.Wait()
		other.wantRun(ref, countersign.RunRecoveryRequired, uncertain, pending)
		time.Sleep(answerable)
		other.must(ref, reconcile(countersign.ConfirmedNotExecuted))
		synctest.Wait()
		other.wantRun(ref, countersign.RunCompleted, completed, completed)
		other.stop()
		other.wantRules()
		if n := other.receiver.count(ref.RunID + ".pay"); n != 1 {
			t.Errorf("sent %d times after somebody said that it was not done", n)
		}
	})
}

func TestADeadReplicasReadIsExecutedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other, third := join(t, s, after(time.Hour)), join(t, s, atOnce), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("look", "look"), step("pay", "pay", "look")))
		synctest.Wait()
		one.crash()
		time.Sleep(takeOver)
		synctest.Wait()
		other.wantRun(ref, countersign.RunCompleted, completed, completed)
		for _, key := range []string{ref.RunID + ".look", ref.RunID + ".pay"} {
			if n := other.receiver.count(key) + third.receiver.count(key); n != 1 {
				t.Errorf("two replicas took the run over: %s was sent %d times", key, n)
			}
		}
		other.stop()
		third.stop()
		other.wantRules()
	})
}

// TestTheAnswerOfAReplicaThatStoodStillIsKeptAsEvidence: it comes when another one has taken over,
// or before, and couldn't be stored. It decides nothing and begins nothing, and it ends the
// waiting for it.
func TestTheAnswerOfAReplicaThatStoodStillIsKeptAsEvidence(t *testing.T) {
	for name, answered := range map[string]time.Duration{"after": takeOver + 5*time.Second, "before": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rerun.Always(memory.New())
				one, other := join(t, s, after(answered)), join(t, s, atOnce)
				ref := one.mustStart(one.register(step("pay", "pay"), step("look", "look", "pay")))
				synctest.Wait()
				one.store.full.Store(true) // nothing of it reaches the store
				time.Sleep(takeOver)
				other.wantRun(ref, countersign.RunRecoveryRequired, uncertain, pending)
				one.store.full.Store(false)
				time.Sleep(time.Minute)
				synctest.Wait()
				is := other.wantRun(ref, countersign.RunRecoveryRequired, uncertain, pending)
				late := is.Steps[0].Late
				if late == nil || late.Response == nil || late.Response.StatusCode != 200 || late.Attempt != 1 {
					t.Errorf("its answer became %+v", late)
				}
				select {
				case <-one.keeper.Lost():
				default:
					t.Error("it does not know that it was taken for dead")
				}
				one.stop()
				other.must(ref, reconcile(countersign.Abandon)) // nobody waits any longer
				if n := one.receiver.count(ref.RunID+".pay") + other.receiver.count(ref.RunID+".pay"); n != 1 {
					t.Errorf("sent %d times", n)
				}
				other.stop()
				other.wantRules()
			})
		})
	}
}

// TestAFencedReplicaDecidesNothingOfARunThatNobodyHasTakenOver: it keeps the answer until somebody
// has, or it ends.
func TestAFencedReplicaDecidesNothingOfARunThatNobodyHasTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one := join(t, s, after(3*time.Second))
		ref := one.mustStart(one.register(step("pay", "pay")))
		synctest.Wait()
		if err := one.keeper.Leave(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		one.wantRun(ref, countersign.RunRunning, countersign.StepRunning)
		other := join(t, s, atOnce)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if is := other.wantRun(ref, countersign.RunRecoveryRequired, uncertain); is.Steps[0].Late == nil {
			t.Error("its answer is lost")
		}
		one.stop()
		other.stop()
		other.wantRules()
	})
}

// TestAReplicaThatStoodStillSendsNothingAfterwards: the intent was committed, and
// then the process stopped for longer than its lease.
func TestAReplicaThatStoodStillSendsNothingAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, atOnce), join(t, s, atOnce)
		p := one.register(step("pay", "pay"))
		one.store.behind = func() {
			if one.store.full.Load() {
				return
			}
			if stands, _ := one.intends(); stands {
				one.store.full.Store(true) // renewals too
				time.Sleep(takeOver)
				one.store.full.Store(false)
			}
		}
		ref := one.mustStart(p)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := len(one.receiver.keys()) + len(other.receiver.keys()); n != 0 {
			t.Errorf("sent %d times", n)
		}
		other.wantRun(ref, countersign.RunRecoveryRequired, uncertain)
		one.stop()
		other.stop()
		other.wantRules()
	})
}

// intends reports a run with a step under way in the store.
func (f *fixture) intends() (is bool, err error) {
	err = f.store.View(context.Background(), func(tx store.Tx) error {
		n, err := tx.Count(store.Runs, tenant, store.Query{Where: []store.Filter{store.Equal("status", string(countersign.RunRunning))}})
		is = n > 0
		return err
	})
	return is, err
}

// TestACancelAtAnotherReplicaEndsTheRead that is on its way, within seconds; a side
// effect never.
func TestACancelAtAnotherReplicaEndsTheRead(t *testing.T) {
	for capability, aborted := range map[string]int{"look": 1, "pay": 0} {
		synctest.Test(t, func(t *testing.T) {
			s := rerun.Always(memory.New())
			one, other := join(t, s, after(time.Hour)), join(t, s, atOnce)
			ref := one.mustStart(one.register(step("s", capability)))
			time.Sleep(5 * time.Second)
			if one.receiver.aborted != 0 {
				t.Errorf("%s was ended before the cancel", capability)
			}
			other.must(ref, cancel())
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if one.receiver.aborted != aborted {
				t.Errorf("%s: %d calls were ended, want %d", capability, one.receiver.aborted, aborted)
			}
			one.crash()
			other.stop()
			other.wantRules()
		})
	}
}

func TestAReplicaThatStopsHandsItsRunsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		h := hold()
		one, other := join(t, s, h.answer), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("look", "look"), step("pay", "pay", "look")))
		synctest.Wait()
		go h.all()
		one.stop() // lets the read finish, begins no further step
		time.Sleep(2 * time.Second)
		synctest.Wait()
		other.wantRun(ref, countersign.RunCompleted, completed, completed)
		other.stop()
		other.wantRules()
	})
}

func TestTheLimitHoldsAcrossReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, after(time.Second)), join(t, s, after(time.Second))
		p := one.register(step("pay", "pay"))
		var refs []runrepo.Ref
		for n := range 2 * limit {
			ref, err := []*replica{one, other}[n%2].start(p)
			switch code := countersign.ErrorCode(err); {
			case err == nil:
				refs = append(refs, ref)
			case code != countersign.CodeCapacity:
				t.Error(err)
			}
		}
		time.Sleep(time.Minute)
		if len(refs) != limit {
			t.Errorf("%d runs started", len(refs))
		}
		for _, ref := range refs {
			one.wantRun(ref, countersign.RunCompleted, completed)
		}
		one.stop()
		other.stop()
		one.wantRules()
		other.wantRules()
	})
}

// TestADecisionAtAnotherReplicaIsCarriedOutOnce.
func TestADecisionAtAnotherReplicaIsCarriedOutOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, atOnce), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("refund", "refund")))
		synctest.Wait()
		other.must(ref, approve())
		one.engine.Wake(ref) // whoever else is told leaves it alone
		synctest.Wait()
		time.Sleep(time.Minute)
		one.wantRun(ref, countersign.RunCompleted, completed)
		if n := one.receiver.count(ref.RunID+".refund") + other.receiver.count(ref.RunID+".refund"); n != 1 {
			t.Errorf("sent %d times", n)
		}
		one.stop()
		other.stop()
		one.wantRules()
	})
}

// waiting is a lease that is renewed when its process stops, as on a slow store.
type waiting struct{ *lease.Keeper }

func (waiting) Renew(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestAStopAmidARenewalIsNoError in the log.
func TestAStopAmidARenewalIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := prepare(t, rerun.Always(memory.New()), atOnce)
		keeper, err := lease.Join(context.Background(), h.store, "one", "test")
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		h.engine = engine.New(h.store, h.runs, h.receiver, h, slog.New(slog.NewTextHandler(&log, nil)))
		h.engine.Share(waiting{keeper}, lease.Every)
		if err := h.engine.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lease.Every)
		h.stop()
		if log.Len() > 0 {
			t.Error(log.String())
		}
	})
}

// TestALeaseOutlivesAShortOutage of the store: nobody is taken for dead, and the
// run goes on.
func TestALeaseOutlivesAShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one, other := join(t, s, after(time.Second)), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("pay", "pay"), step("look", "look", "pay")))
		synctest.Wait()
		one.store.full.Store(true)
		time.Sleep(lease.Length - lease.Every - time.Second)
		one.store.full.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		one.wantRun(ref, countersign.RunCompleted, completed, completed)
		if len(other.receiver.keys()) > 0 {
			t.Errorf("the other one sent %v", other.receiver.keys())
		}
		if err := one.keeper.Renew(context.Background()); errors.Is(err, lease.ErrLost) {
			t.Error(err)
		}
		one.stop()
		other.stop()
		one.wantRules()
	})
}
