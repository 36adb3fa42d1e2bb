package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestAProcessIsFencedOnlyOnWhatIsSoInThatTransaction: between the look at the beats
// and the fence the other one beats, or the one that looked is fenced itself.
func TestAProcessIsFencedOnlyOnWhatIsSoInThatTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, s store.Store, one *lease.Keeper)
		want      error
	}{
		"it beats again": {func(t *testing.T, _ store.Store, one *lease.Keeper) { must(t, one.Renew(context.Background())) }, nil},
		"who looked is fenced": {func(t *testing.T, s store.Store, _ *lease.Keeper) {
			must(t, s.Update(context.Background(), func(tx store.Tx) error {
				return records.Replicas.Delete(tx, store.Realm, records.ReplicaID("other"))
			}))
		}, lease.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ctx := memory.New(), context.Background()
				one := join(t, s, "one")
				armed := false
				var acts store.Store
				other := join(t, switched{s, &armed, &acts}, "other")
				for range int(lease.Length / time.Second) {
					must(t, other.Renew(ctx))
					must(t, other.Fence(ctx))
					time.Sleep(time.Second)
				}
				must(t, other.Renew(ctx))
				armed, acts = true, rerun.Meanwhile(s, func() { c.meanwhile(t, s, one) })
				if err := other.Fence(ctx); !errors.Is(err, c.want) {
					t.Errorf("%v", err)
				}
				must(t, check(s, one))
			})
		})
	}
}

// switched is a store whose Updates go another way once it is armed.
type switched struct {
	store.Store
	armed *bool
	other *store.Store
}

func (s switched) Update(ctx context.Context, fn func(store.Tx) error) error {
	if *s.armed {
		return (*s.other).Update(ctx, fn)
	}
	return s.Store.Update(ctx, fn)
}

// TestALeaseCountsFromBeforeItsRenewal: others may have seen the beat rise as soon as it
// was asked for, though the answer took the store seconds.
func TestALeaseCountsFromBeforeItsRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 3 * time.Second
		one := join(t, late{memory.New(), takes}, "one")
		must(t, one.Renew(context.Background()))
		until, err := one.Hold(context.Background())
		if left := time.Until(until); err != nil || left > lease.Length-lease.Margin-takes {
			t.Errorf("after a renewal that took %s it may send for %s (%v)", takes, left, err)
		}
	})
}

// TestTheFirstLeaseCountsFromBeforeItsCommit: others see the record as soon as it is asked for.
func TestTheFirstLeaseCountsFromBeforeItsCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 3 * time.Second
		one := join(t, late{memory.New(), takes}, "one")
		until, err := one.Hold(context.Background())
		if left := time.Until(until); err != nil || left > lease.Length-lease.Margin-takes {
			t.Errorf("after joining took %s it may send for %s (%v)", takes, left, err)
		}
	})
}

// late is a store that answers a commit late.
type late struct {
	store.Store
	takes time.Duration
}

func (l late) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := l.Store.Update(ctx, fn)
	time.Sleep(l.takes)
	return err
}
