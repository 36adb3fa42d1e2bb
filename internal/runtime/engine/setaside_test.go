package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

var errPoison = errors.New("this run can't be committed")

// wantSetAside checks a run that was set aside before its first step was sent.
func (f *fixture) wantSetAside(id string, r *countersign.Run) {
	f.t.Helper()
	if r.Status != countersign.RunFailed || r.Code() != countersign.CodeSetAside || r.MayHaveHappened || r.Steps[0].WasSent() {
		f.t.Errorf("run %s is %s %q, mayHaveHappened %v", id, r.Status, r.Error, r.MayHaveHappened)
	}
}

// TestARunWhoseTurnsFailIsSetAside: it holds no slot for ever, and nothing of it was sent.
func TestARunWhoseTurnsFailIsSetAside(t *testing.T) {
	for name, fail := range map[string]func(string) error{
		"by its own error": func(string) error { return errPoison },
		"by a record that can't be read and isn't its own, such as a budget's": func(string) error { return fmt.Errorf("decode spent/capability/p/c: %w", store.ErrDamaged) },
		"by what the database says of a turn that stood still": func(string) error {
			time.Sleep(10 * time.Second)
			return store.ErrUnavailable
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, atOnce)
			p := h.register(step("pay", "pay"))
			bad := h.stored(p)
			h.store.poison.Store(&poison{runID: bad.RunID, fail: fail})
			h.engine.Wake(bad)
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			h.wantSetAside(name, h.run(bad))
			good := h.mustStart(p)
			synctest.Wait()
			h.wantRun(good, countersign.RunCompleted, completed)
			h.stop()
			h.wantRules()
			if n := h.receiver.count(bad.RunID + ".pay"); n != 0 {
				t.Errorf("%s: sent %d times", name, n)
			}
		})
	}
}

// TestARunWhoseTurnsFailNowAndThenIsNotSetAside: what is counted is in a row.
func TestARunWhoseTurnsFailNowAndThenIsNotSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		steps := []countersign.Step{step("s0", "look")}
		for _, id := range []string{"s1", "s2", "s3", "s4"} {
			steps = append(steps, step(id, "look", steps[len(steps)-1].ID))
		}
		ref := h.stored(h.register(steps...))
		failed := map[string]int{} // by step
		h.store.poison.Store(&poison{runID: ref.RunID, fail: func(step string) error {
			if failed[step]++; failed[step] <= 2 {
				return errPoison
			}
			return nil
		}})
		h.engine.Wake(ref)
		time.Sleep(time.Minute)
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed, completed, completed, completed, completed)
		h.stop()
	})
}

// TestAReadWhoseOutcomeFailsIsSetAside: its step isn't begun again, for which a person would be asked each time.
func TestAReadWhoseOutcomeFailsIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.stored(h.register(step("look", "look")))
		h.store.poison.Store(&poison{runID: ref.RunID, outcome: true, fail: func(string) error { return errPoison }})
		h.engine.Wake(ref)
		time.Sleep(time.Minute)
		synctest.Wait()
		r := h.wantRun(ref, countersign.RunFailed, failed)
		if n := h.receiver.count(ref.RunID + ".look"); n != 1 || r.Code() != countersign.CodeSetAside {
			t.Errorf("sent %d times, and %q", n, r.Error)
		}
		h.stop()
		h.wantRules()
	})
}

// TestARunThatEndsItsProcessIsSetAside: each turn takes the process down. Whoever starts after it
// goes on with the others.
func TestARunThatEndsItsProcessIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		p := h.register(step("pay", "pay"))
		bad, deaths := h.stored(p), 0
		for dead := true; dead && deaths < 8; {
			dead = false
			h.store.poison.Store(&poison{runID: bad.RunID, fail: func(string) error { dead = true; return store.ErrUnavailable }})
			if deaths == 0 {
				h.engine.Wake(bad)
			} else if err := h.engine.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the turn is being tried again and again, as by a process that is dying of it
			if dead {
				deaths++
				h = prepare(t, h.crash(), atOnce)
			}
		}
		h.wantSetAside("that ends its process", h.run(bad))
		if deaths > 3 {
			t.Errorf("it took %d processes down", deaths)
		}
		good := h.mustStart(p)
		synctest.Wait()
		h.wantRun(good, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}

// TestAReplicaThatTakesOverCountsToo.
func TestAReplicaThatTakesOverCountsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rerun.Always(memory.New())
		one := join(t, s, atOnce)
		p := one.register(step("pay", "pay"))
		bad := one.stored(p)
		for i := range 3 {
			next := join(t, s, atOnce)
			for _, r := range []*replica{one, next} {
				r.store.poison.Store(&poison{runID: bad.RunID, fail: func(string) error { return store.ErrUnavailable }})
			}
			if i == 0 {
				one.engine.Wake(bad)
			}
			time.Sleep(2 * time.Second)
			one.crash()
			time.Sleep(takeOver)
			synctest.Wait()
			one = next
		}
		last := join(t, s, atOnce)
		one.crash()
		time.Sleep(2 * takeOver)
		synctest.Wait()
		last.wantSetAside("taken over", last.run(bad))
		last.stop()
	})
}

// TestWhoHasLostTheLeaseCountsNoTurns: the run is another replica's by then, which counts its own.
func TestWhoHasLostTheLeaseCountsNoTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := join(t, rerun.Always(memory.New()), atOnce)
		bad := h.stored(h.register(step("pay", "pay")))
		h.store.poison.Store(&poison{runID: bad.RunID, fail: func(string) error { return errPoison }})
		tried := func() (n int) {
			h.view(func(tx store.Tx) (err error) {
				n, err = runrepo.Tried(tx, bad)
				return err
			})
			return n
		}
		h.engine.Wake(bad)
		synctest.Wait()
		counted := tried()
		if counted == 0 {
			t.Fatal("a turn that failed isn't counted")
		}
		h.update(func(tx store.Tx) error {
			list, err := records.AllReplicas(tx)
			for _, r := range list {
				err = errors.Join(err, records.Replicas.Delete(tx, store.Realm, records.ReplicaID(r.ID)))
			}
			return err
		})
		h.engine.Wake(bad)
		synctest.Wait()
		if n := tried(); n != counted {
			t.Errorf("%d turns were counted while it had the lease, and %d after", counted, n)
		}
		h.crash()
	})
}

// TestARunThatCantBeSetAsideSaysSoAndIsTriedAgain: nothing of it can be stored for a while. Its
// records can be read all the time, so that isn't the reason; and once it can be stored, the next
// start sets it aside as it should have been.
func TestARunThatCantBeSetAsideSaysSoAndIsTriedAgain(t *testing.T) {
	for _, sent := range []int{0, 1} {
		for name, again := range map[string]func(*testing.T, store.Store) *fixture{
			"a process": func(t *testing.T, s store.Store) *fixture { return reopen(t, s, atOnce) },
			"a replica": func(t *testing.T, s store.Store) *fixture { return join(t, s, atOnce).fixture },
		} {
			synctest.Test(t, func(t *testing.T) {
				h := again(t, rerun.Always(memory.New()))
				ref := h.stored(h.register(step("pay", "pay")))
				calls := func() int { return h.receiver.count(ref.RunID + ".pay") }
				fail := func(string) error {
					if calls() == sent {
						return errPoison
					}
					return nil
				}
				h.store.poison.Store(&poison{runID: ref.RunID, all: true, fail: fail})
				h.engine.Wake(ref)
				time.Sleep(time.Minute)
				synctest.Wait()
				h.wantStranded(ref)
				if why := h.strandedFor(ref); strings.Contains(why, "read") || !strings.Contains(why, "can't be stored") {
					t.Errorf("%s, sent %d times: the audit log says %q", name, sent, why)
				}
				still := prepare(t, h.crash(), atOnce)
				still.store.poison.Store(&poison{runID: ref.RunID, all: true, fail: func(string) error { return errPoison }})
				if err := still.engine.Start(context.Background()); err != nil {
					t.Fatal(err)
				}
				still.wantStranded(ref)
				last := again(t, still.crash())
				time.Sleep(2 * takeOver)
				synctest.Wait()
				r := last.run(ref)
				if sent == 0 {
					last.wantSetAside(name, r)
				} else if r.Status != countersign.RunRecoveryRequired || r.WaitingFor == nil {
					t.Errorf("%s, sent %d times: run is %s, waits for %+v", name, sent, r.Status, r.WaitingFor)
				}
				if n := last.receiver.count(ref.RunID + ".pay"); n != 0 || calls() != sent {
					t.Errorf("%s: sent %d times, and %d times more", name, calls(), n)
				}
				last.stop()
				last.wantRules()
			})
		}
	}
}

// strandedFor is the reason that the audit log gives.
func (f *fixture) strandedFor(ref runrepo.Ref) (why string) {
	f.view(func(tx store.Tx) error {
		said, err := audit.List(tx, ref.Tenant, audit.Filter{Subject: "run/" + ref.RunID, Action: "run.strand"}, 1, 0)
		if err == nil && len(said.Items) == 1 {
			why = said.Items[0].Reason
		}
		return err
	})
	return why
}

// TestAStrandedRunThatIsTakenUpFreesNoSlot: others have got it already.
func TestAStrandedRunThatIsTakenUpFreesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, calls := rerun.Always(memory.New()), hold()
		one := join(t, s, calls.answer)
		p := one.register(step("refund", "refund"))
		bad := one.stored(one.register(step("pay", "pay")))
		one.store.poison.Store(&poison{runID: bad.RunID, all: true, fail: func(string) error { return errPoison }})
		one.engine.Wake(bad)
		time.Sleep(time.Minute)
		synctest.Wait()
		one.wantStranded(bad)
		var refs []runrepo.Ref
		for range limit + 1 {
			refs = append(refs, one.mustStart(p))
			synctest.Wait()
		}
		for _, ref := range refs {
			one.must(ref, approve())
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		other := join(t, s, atOnce)
		other.wantSetAside("taken up", other.run(bad))
		one.view(func(tx store.Tx) error {
			holders, err := runrepo.Holders(tx)
			if len(holders) != limit {
				t.Errorf("%d runs hold %d slots", len(holders), limit)
			}
			return err
		})
		calls.all()
		time.Sleep(time.Minute)
		one.stop()
		other.stop()
	})
}

// TestAStrandedRunThatWaitsForAPersonIsTheirsAgain once its records can be read.
func TestAStrandedRunThatWaitsForAPersonIsTheirsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, atOnce)
		ref := h.mustStart(h.register(step("refund", "refund")))
		synctest.Wait()
		h.update(func(tx store.Tx) error {
			_, err := h.runs.Strand(tx, ref, runrepo.NotReadable)
			return err
		})
		h.wantStranded(ref)
		h = reopen(t, h.crash(), atOnce)
		h.wantRun(ref, countersign.RunWaitingApproval, countersign.StepWaitingApproval)
		h.view(func(tx store.Tx) error {
			u, _, err := records.UnfinishedRuns.Get(tx, store.Realm, records.UnfinishedID(ref.Tenant, ref.RunID))
			if err != nil || u.State != records.Waiting || u.Due.IsZero() {
				t.Errorf("it is listed as %+v, %v", u, err)
			}
			return nil
		})
		h.must(ref, approve())
		synctest.Wait()
		h.wantRun(ref, countersign.RunCompleted, completed)
		h.stop()
		h.wantRules()
	})
}
