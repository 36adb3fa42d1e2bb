package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

var errPoison = errors.New("this run can't be committed")

// wantSetAside checks a run that was set aside before its first step was sent.
func (h *fixture) wantSetAside(id string, r *countersign.Run) {
	h.t.Helper()
	if r.Status != countersign.RunFailed || r.Code() != countersign.CodeSetAside || r.MayHaveHappened || r.Steps[0].WasSent() {
		h.t.Errorf("run %s is %s %q, mayHaveHappened %v", id, r.Status, r.Error, r.MayHaveHappened)
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
