package semaphore

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// fixture keeps the order in which tenants got permits.
type fixture struct {
	turns *Semaphore
	mu    sync.Mutex
	came  []string
	all   sync.WaitGroup
}

// ask asks for a permit and keeps it until hold is closed.
func (f *fixture) ask(ctx context.Context, tenant string, hold <-chan bool) {
	f.all.Go(func() {
		_ = f.turns.Do(ctx, tenant, func() {
			f.mu.Lock()
			f.came = append(f.came, tenant)
			f.mu.Unlock()
			<-hold
		})
	})
	synctest.Wait() // calls queue in the order of asking
}

// TestTenantsTakeTurns: another tenant's single call is next, however many calls wait
// before it, and the calls of one tenant keep their order.
func TestTenantsTakeTurns(t *testing.T) {
	for _, atOnce := range []int{1, 2} { // with two at once the order in came is not determined
		synctest.Test(t, func(t *testing.T) {
			d, first, done := &fixture{turns: New(atOnce)}, make(chan bool), make(chan bool)
			close(done)
			for range atOnce {
				d.ask(t.Context(), "a", first)
			}
			for range 6 {
				d.ask(t.Context(), "a", done)
			}
			for _, tenant := range []string{"b", "c", "b", "c"} {
				d.ask(t.Context(), tenant, done)
			}
			if n := len(d.came); n != atOnce {
				t.Fatalf("%d work at once, not %d", n, atOnce)
			}
			close(first)
			d.all.Wait()
			got := strings.Join(d.came, "")
			if atOnce == 1 && got != "aabcabcaaaa" {
				t.Errorf("one at once: %s", got)
			}
			d.empty(t, atOnce)
		})
	}
}

// empty checks that no call waits and all permits are free.
func (f *fixture) empty(t *testing.T, atOnce int) {
	t.Helper()
	if f.turns.free != atOnce || len(f.turns.order) != 0 || len(f.turns.waiting) != 0 || len(f.turns.held) != 0 {
		t.Errorf("at the end %+v", f.turns)
	}
}

// TestWhoLeavesTakesNoTurn: a call whose context ends gets no permit and delays no other.
func TestWhoLeavesTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, hold := &fixture{turns: New(1)}, make(chan bool)
		d.ask(t.Context(), "a", hold)
		gone, leave := context.WithCancel(t.Context())
		d.ask(gone, "b", hold)
		d.ask(gone, "b", hold)
		d.ask(t.Context(), "c", hold)
		leave()
		synctest.Wait()
		close(hold)
		d.all.Wait()
		if got := strings.Join(d.came, ""); got != "ac" {
			t.Errorf("turns of %s", got)
		}
		if err := d.turns.Do(gone, "a", func() { t.Error("it worked") }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		d.empty(t, 1)
	})
}

// TestATurnThatComesAsSomebodyLeavesIsPassedOn: a permit granted to a call that is leaving
// goes to the next one.
func TestATurnThatComesAsSomebodyLeavesIsPassedOn(t *testing.T) {
	for range 200 {
		turns := New(1)
		var all sync.WaitGroup
		for _, tenant := range []string{"a", "b", "c", "a", "b"} {
			ctx, leave := context.WithCancel(context.Background())
			all.Go(func() { _ = turns.Do(ctx, tenant, func() {}) })
			all.Go(leave)
		}
		all.Wait()
		if turns.free != 1 || len(turns.order) != 0 || len(turns.waiting) != 0 {
			t.Fatalf("%+v", turns)
		}
	}
}

func TestATurnEndsWithAPanic(t *testing.T) {
	turns := New(1)
	func() {
		defer func() { _ = recover() }()
		_ = turns.Do(context.Background(), "a", func() { panic("bug") })
	}()
	if turns.free != 1 {
		t.Error("the turn is lost")
	}
}

// TestNoTenantHoldsTheLastSharedPermit: another one finds it free, however many calls of the
// first have come before and however long they take; and who holds all but the last gets the
// next that is given back.
func TestNoTenantHoldsTheLastSharedPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, hold, done := &fixture{turns: Shared(3)}, make(chan bool), make(chan bool)
		close(done)
		for range 4 {
			d.ask(t.Context(), "a", hold)
		}
		for range 3 {
			d.ask(t.Context(), "b", done)
		}
		if got := strings.Join(d.came, ""); got != "aabbb" {
			t.Errorf("while a holds what it may, turns are of %s", got)
		}
		close(hold)
		d.all.Wait()
		if got := strings.Join(d.came, ""); got != "aabbbaa" {
			t.Errorf("at the end, turns are of %s", got)
		}
		d.empty(t, 3)
	})
}

// TestASharedPermitThatIsTheOnlyOneIsGiven.
func TestASharedPermitThatIsTheOnlyOneIsGiven(t *testing.T) {
	ran := false
	if err := Shared(1).Do(t.Context(), "a", func() { ran = true }); err != nil || !ran {
		t.Errorf("%v, it ran: %v", err, ran)
	}
}

// TestWorkInPiecesLetsOthersGoFirst between two of its pieces, and goes on afterwards; alone it
// keeps its permit.
func TestWorkInPiecesLetsOthersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, done := &fixture{turns: New(1)}, make(chan bool)
		close(done)
		err := d.turns.DoInPieces(t.Context(), "a", func(yield func() error) {
			if err := yield(); err != nil || len(d.turns.held) != 1 {
				t.Errorf("alone: %v", err)
			}
			d.ask(t.Context(), "b", done)
			d.ask(t.Context(), "a", done)
			if err := yield(); err != nil {
				t.Error(err)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if got := strings.Join(d.came, ""); !strings.HasPrefix(got, "b") {
				t.Errorf("between the pieces came %q", got)
			}
		})
		if err != nil {
			t.Error(err)
		}
		d.all.Wait()
		d.empty(t, 1)
	})
}

// TestWorkInPiecesEndsWithItsCaller: who leaves while others have their turn holds nothing.
func TestWorkInPiecesEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, hold, goOn := &fixture{turns: New(1)}, make(chan bool), make(chan bool)
		ctx, leave := context.WithCancel(t.Context())
		d.all.Go(func() {
			_ = d.turns.DoInPieces(ctx, "a", func(yield func() error) {
				<-goOn
				for range 2 {
					if err := yield(); !errors.Is(err, context.Canceled) {
						t.Errorf("left: %v", err)
					}
				}
			})
		})
		synctest.Wait()
		d.ask(t.Context(), "b", hold)
		close(goOn)
		synctest.Wait()
		leave()
		synctest.Wait()
		close(hold)
		d.all.Wait()
		d.empty(t, 1)
	})
}

// TestTwoWorksInPiecesAlternate: whoever gets a permit finds the one that gave it among those
// who wait, at its first yield already.
func TestTwoWorksInPiecesAlternate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, hold := New(1), make(chan bool)
		var pieces []string // noted by who has the permit
		var all sync.WaitGroup
		work := func(tenant string, first func()) {
			all.Go(func() {
				_ = s.DoInPieces(t.Context(), tenant, func(yield func() error) {
					first()
					for range 50 {
						pieces = append(pieces, tenant)
						_ = yield()
					}
				})
			})
			synctest.Wait()
		}
		work("a", func() { <-hold })
		work("b", func() {})
		close(hold)
		all.Wait()
		if got, want := strings.Join(pieces, ""), strings.Repeat("ab", 50); got != want {
			t.Errorf("the pieces came in the order %s", got)
		}
	})
}
