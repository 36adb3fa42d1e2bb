package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// distant is a store whose commits take some time, as those of a database elsewhere do.
type distant struct {
	store.Store
	away atomic.Int64
}

func (d *distant) Update(ctx context.Context, fn func(store.Tx) error) error {
	time.Sleep(time.Duration(d.away.Load()))
	return d.Store.Update(ctx, fn)
}

// settling is how long a read of a run waits.
func (f *fixture) settling(ref runrepo.Ref) time.Duration {
	began := time.Now()
	f.runs.Settle(context.Background(), ref)
	return time.Since(began)
}

// TestAReadWaitsForAMoveOfItsReplica and shows it, even when its commit takes a part of a second; at another replica it waits for nothing
// and shows what is committed.
func TestAReadWaitsForAMoveOfItsReplica(t *testing.T) {
	const call, commit, most = time.Second, 60 * time.Millisecond, 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		s := &distant{Store: rerun.Always(memory.New())}
		one, other := join(t, s, after(call)), join(t, s, atOnce)
		ref := one.mustStart(one.register(step("look", "look")))
		time.Sleep(call / 2)
		s.away.Store(int64(commit))
		waited := time.Duration(0)
		for until := time.Now().Add(call); waited == 0 && time.Now().Before(until); time.Sleep(time.Millisecond) {
			if one.run(ref).Status != countersign.RunRunning {
				t.Error("the run moved unannounced")
				break
			}
			if took := other.settling(ref); took != 0 {
				t.Errorf("the other replica waited %s", took)
			}
			if waited = one.settling(ref); waited > 0 {
				one.wantRun(ref, countersign.RunCompleted, completed)
				other.wantRun(ref, countersign.RunCompleted, completed)
			}
		}
		if waited == 0 || waited > commit || waited > most {
			t.Errorf("the read waited %s", waited)
		}
		one.stop()
		other.stop()
	})
}
