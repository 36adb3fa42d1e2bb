package lease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

func TestTheRecordsOfProcessesThatAreGoneAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		one, other := join(t, s, "one"), join(t, s, "other")
		began := time.Now()
		gone, err := lease.Vacate(context.Background(), s)
		if err != nil || gone != 2 || time.Since(began) < lease.Length {
			t.Errorf("%d after %s, %v", gone, time.Since(began), err)
		}
		for _, k := range []*lease.Keeper{one, other} {
			if err := check(s, k); !errors.Is(err, lease.ErrLost) {
				t.Errorf("%s may commit: %v", k.ID(), err)
			}
		}
		if gone, err := lease.Vacate(context.Background(), s); gone != 0 || err != nil {
			t.Errorf("%d, %v", gone, err)
		}
	})
}

// TestAStoreIsNotVacatedWhileAProcessLives, and nobody loses its record.
func TestAStoreIsNotVacatedWhileAProcessLives(t *testing.T) {
	for name, late := range map[string]time.Duration{"at once": time.Second, "at the end": lease.Length - 100*time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memory.New()
				one, other := join(t, s, "one"), join(t, s, "other")
				go func() {
					time.Sleep(late)
					must(t, one.Renew(context.Background()))
				}()
				if _, err := lease.Vacate(context.Background(), s); !errors.Is(err, lease.ErrAlive) {
					t.Errorf("%v", err)
				}
				must(t, check(s, one))
				must(t, check(s, other))
			})
		})
	}
}

func TestAProcessThatRaisesItsBeatIsToldFromOneThatDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		one, _ := join(t, s, "one"), join(t, s, "other")
		go func() {
			time.Sleep(lease.Every)
			must(t, one.Renew(context.Background()))
		}()
		alive, still, err := lease.Beating(context.Background(), s, lease.Every+time.Second)
		if err != nil || len(alive) != 1 || alive[0].ID != "one" || alive[0].Version != "test" || len(still) != 1 || still[0].ID != "other" {
			t.Errorf("%+v, %+v, %v", alive, still, err)
		}
	})
}

// slow is a store on which writes have to wait, as for a standby, while reads go on.
type slow struct {
	store.Store
	wait time.Duration
}

func (s slow) Update(ctx context.Context, fn func(store.Tx) error) error {
	time.Sleep(s.wait)
	return s.Store.Update(ctx, fn)
}

// TestBeatsThatNobodyCouldWriteVacateNothing.
func TestBeatsThatNobodyCouldWriteVacateNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		one := join(t, s, "one")
		if _, err := lease.Vacate(context.Background(), slow{s, lease.Length}); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "writes had to wait, and beats with them; try again") {
			t.Errorf("%v", err)
		}
		must(t, check(s, one))
	})
}
