package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

func join(t *testing.T, s store.Store, id string) *lease.Keeper {
	t.Helper()
	k, err := lease.Join(context.Background(), s, id, "test")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func check(s store.Store, k *lease.Keeper) error {
	return s.View(context.Background(), k.Check)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhoseBeatStandsStillIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := memory.New(), context.Background()
		one, other := join(t, s, "one"), join(t, s, "other")
		for range 30 { // as long as it beats it lives
			must(t, one.Renew(ctx))
			must(t, other.Renew(ctx))
			must(t, other.Fence(ctx))
			time.Sleep(time.Second)
		}
		must(t, check(s, one))
		for range int(lease.Length / time.Second) {
			must(t, check(s, one))
			must(t, other.Renew(ctx))
			must(t, other.Fence(ctx))
			time.Sleep(time.Second)
		}
		must(t, other.Fence(ctx))
		if err := check(s, one); !errors.Is(err, lease.ErrLost) {
			t.Errorf("%v", err)
		}
		if err := one.Renew(ctx); !errors.Is(err, lease.ErrLost) {
			t.Errorf("it came back: %v", err)
		}
		<-one.Lost()
		must(t, check(s, other))
	})
}

// TestAProcessStopsSendingWellBeforeItIsFenced.
func TestAProcessStopsSendingWellBeforeItIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		one := join(t, s, "one")
		until, err := one.Hold(context.Background())
		if err != nil || time.Until(until) > lease.Length-lease.Margin {
			t.Errorf("until %s, %v", time.Until(until), err)
		}
		time.Sleep(lease.Length - lease.Margin)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := one.Hold(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		go func() { must(t, one.Renew(context.Background())) }()
		if _, err := one.Hold(context.Background()); err != nil { // waits for the renewal
			t.Error(err)
		}
	})
}

// TestAFencedProcessFencesNobody: it may itself be what stood still.
func TestAFencedProcessFencesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := memory.New(), context.Background()
		one, other := join(t, s, "one"), join(t, s, "other")
		for range int(lease.Length/time.Second) + 1 {
			must(t, other.Renew(ctx))
			must(t, other.Fence(ctx))
			time.Sleep(time.Second)
		}
		for range int(lease.Length/time.Second) + 1 { // the other one rests now
			if err := one.Renew(ctx); !errors.Is(err, lease.ErrLost) || err.Error() != "lease: this process was taken for dead; others have taken over its runs" {
				t.Fatal(err)
			}
			if err := one.Fence(ctx); err != nil && !errors.Is(err, lease.ErrLost) {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		must(t, check(s, other))
	})
}

// TestAnOutageOfTheStoreFencesNobody: when it is over everybody's beat is old.
func TestAnOutageOfTheStoreFencesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := memory.New(), context.Background()
		one, other := join(t, s, "one"), join(t, s, "other")
		for range 5 {
			must(t, one.Fence(ctx))
			must(t, other.Fence(ctx))
			time.Sleep(time.Second)
		}
		time.Sleep(10 * lease.Length) // nobody could do anything
		must(t, one.Fence(ctx))
		must(t, other.Renew(ctx))
		must(t, other.Fence(ctx))
		must(t, one.Renew(ctx))
		must(t, check(s, one))
		must(t, check(s, other))
	})
}

// TestBeatsThatNobodyCouldWriteFenceNobody: reads go on while writes wait, for a
// standby or for space, and when that is over somebody is the first to look.
func TestBeatsThatNobodyCouldWriteFenceNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := memory.New(), context.Background()
		one, other := join(t, s, "one"), join(t, s, "other")
		for range 3 * lease.Length / time.Second {
			must(t, one.Fence(ctx))
			must(t, other.Fence(ctx))
			time.Sleep(time.Second)
		}
		must(t, other.Renew(ctx))
		must(t, other.Fence(ctx))
		must(t, one.Renew(ctx))
		must(t, one.Fence(ctx))
		must(t, check(s, one))
		must(t, check(s, other))
	})
}

func TestWhoLeavesIsGoneAtOnce(t *testing.T) {
	s := memory.New()
	one := join(t, s, "one")
	must(t, one.Leave(context.Background()))
	if err := check(s, one); !errors.Is(err, lease.ErrLost) {
		t.Errorf("%v", err)
	}
}
