package receivertest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/receiver"
)

// TestMemory checks that a Store that is a Memory follows the rules of both. open returns an empty
// one for each subtest.
func TestMemory(t *testing.T, open func(t *testing.T) receiver.Memory) {
	TestStore(t, func(t *testing.T) receiver.Store { return open(t) })
	for name, rule := range map[string]func(*testing.T, receiver.Memory){
		"a look changes nothing":                        lookChangesNothing,
		"a withdrawn key is never claimed":              withdrawnIsNotClaimed,
		"a known key is not withdrawn":                  knownIsNotWithdrawn,
		"of claims and withdrawals at once one is true": claimOrWithdraw,
		"a restore is remembered":                       restoreIsRemembered,
		"a cancelled withdrawal is not made":            cancelledWithdrawal,
	} {
		t.Run(name, func(t *testing.T) { rule(t, open(t)) })
	}
}

func look(t *testing.T, m receiver.Memory, key string) (receiver.Entry, bool) {
	t.Helper()
	e, known, err := m.Look(context.Background(), key)
	must(t, err)
	return e, known
}

func withdraw(t *testing.T, m receiver.Memory, key string, want bool) receiver.Entry {
	t.Helper()
	e, made, err := m.Withdraw(context.Background(), key, at)
	if err != nil || made != want {
		t.Fatalf("withdrawal of %q: %v, %v; want %v", key, made, err, want)
	}
	return e
}

func lookChangesNothing(t *testing.T, m receiver.Memory) {
	for range 2 {
		if e, known := look(t, m, "k"); known {
			t.Fatalf("an unknown key is %+v", e)
		}
	}
	claim(t, m, claimOf("k", "one"), true)
	if e, known := look(t, m, "k"); !known || e.State != receiver.Claimed || e.By != "one" || !e.At.Equal(at) {
		t.Errorf("%+v, %v", e, known)
	}
	must(t, m.Finish(context.Background(), "k", receiver.Answer{Status: 201, ContentType: "text/plain", Body: []byte("kept")}))
	if e, known := look(t, m, "k"); !known || e.State != receiver.Finished || e.Answer.Status != 201 || string(e.Answer.Body) != "kept" {
		t.Errorf("%+v, %v", e, known)
	}
}

func withdrawnIsNotClaimed(t *testing.T, m receiver.Memory) {
	if e := withdraw(t, m, "k", true); e.State != receiver.Withdrawn {
		t.Errorf("%+v", e)
	}
	withdraw(t, m, "k", false)
	for range 2 {
		if e := claim(t, m, claimOf("k", "one"), false); e.State != receiver.Withdrawn {
			t.Errorf("%+v", e)
		}
	}
	if e, known := look(t, m, "k"); !known || e.State != receiver.Withdrawn {
		t.Errorf("%+v, %v", e, known)
	}
	if m.Finish(context.Background(), "k", receiver.Answer{Status: 200}) == nil || m.Release(context.Background(), "k") == nil {
		t.Error("a withdrawn key was finished or released")
	}
	claim(t, m, claimOf("other", "one"), true)
}

func knownIsNotWithdrawn(t *testing.T, m receiver.Memory) {
	claim(t, m, claimOf("k", "one"), true)
	if e := withdraw(t, m, "k", false); e.State != receiver.Claimed {
		t.Errorf("%+v", e)
	}
	must(t, m.Finish(context.Background(), "k", receiver.Answer{Status: 200}))
	if e := withdraw(t, m, "k", false); e.State != receiver.Finished {
		t.Errorf("%+v", e)
	}
	claim(t, m, claimOf("released", "one"), true)
	must(t, m.Release(context.Background(), "released"))
	withdraw(t, m, "released", true)
}

func claimOrWithdraw(t *testing.T, m receiver.Memory) {
	const many = 20
	won := make(chan receiver.State, 2*many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if _, got, err := m.Claim(context.Background(), claimOf("k", "one")); err != nil {
				t.Error(err)
			} else if got {
				won <- receiver.Claimed
			}
		})
		all.Go(func() {
			if _, made, err := m.Withdraw(context.Background(), "k", at); err != nil {
				t.Error(err)
			} else if made {
				won <- receiver.Withdrawn
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Fatalf("%d are true", len(won))
	}
	if state := <-won; claim(t, m, claimOf("k", "two"), false).State != state {
		t.Errorf("%s won, and the key isn't", state)
	}
}

func restoreIsRemembered(t *testing.T, m receiver.Memory) {
	ctx := context.Background()
	restored, err := m.RestoredAt(ctx)
	if err != nil || !restored.IsZero() {
		t.Fatalf("%v, %v", restored, err)
	}
	since, err := m.Since(ctx, at)
	if err != nil || !since.Equal(at) {
		t.Fatalf("%v, %v", since, err)
	}
	later := at.Add(time.Hour)
	must(t, m.Restored(ctx, later))
	if restored, err := m.RestoredAt(ctx); err != nil || !restored.Equal(later) {
		t.Errorf("%v, %v", restored, err)
	}
	if since, err := m.Since(ctx, later.Add(time.Hour)); err != nil || since.Before(later) {
		t.Errorf("%v, %v", since, err)
	}
}

func cancelledWithdrawal(t *testing.T, m receiver.Memory) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, made, err := m.Withdraw(ctx, "k", at); made || err == nil {
		t.Errorf("%v, %v", made, err)
	}
	claim(t, m, claimOf("k", "one"), true)
}
