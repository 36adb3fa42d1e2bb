package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// What a database far away costs is round trips: each ends with a Sync of the protocol.

// roundTrips is how often the server was waited for.
func roundTrips(heard []byte) int { return bytes.Count(heard, []byte("S\x00\x00\x00\x04")) }

// behindProxy opens a store whose requests are heard, and another one.
func behindProxy(t *testing.T) (p *proxy, s, other *Store) {
	t.Helper()
	p, url := startProxy(t, pgtest.Database(t))
	settings := calm()
	settings.aheadFor = generous
	s, other = mustOpenWith(t, url, settings), mustOpen(t, p.database)
	mustWrite(t, s, "a", "old")
	mustWrite(t, s, "b", "old b")
	return p, s, other
}

// TestWhatABatchHasWrittenIsKnownToTheNext: a run that was started is read by its first step.
func TestWhatABatchHasWrittenIsKnownToTheNext(t *testing.T) {
	p, s, _ := behindProxy(t)
	start := func(id string) error {
		return s.Update(context.Background(), func(tx store.Tx) error {
			return tx.Put(store.Claims, "acme", store.Row{ID: id, Doc: []byte("{}"), New: true}, 0)
		})
	}
	step := func(id string) error {
		return s.Update(context.Background(), func(tx store.Tx) error {
			row, err := tx.Get(store.Claims, "acme", id)
			return errors.Join(err, tx.Put(store.Claims, "acme", row, row.Version))
		})
	}
	mustDo(t, errors.Join(start("a"), step("a"), start("b"))) // prepares the statements
	if n := roundTrips(p.listen(func() { mustDo(t, step("b")) })); n != 1 {
		t.Errorf("%d round trips", n)
	}
}

// TestWhatOthersAlwaysChangeIsReadWithTheLock: two stores that change a row in turns.
func TestWhatOthersAlwaysChangeIsReadWithTheLock(t *testing.T) {
	p, s, other := behindProxy(t)
	change := func(s *Store) {
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			doc, err := read(tx, "a")
			return errors.Join(err, write(tx, "a", doc+"+"))
		}))
	}
	for range 3 {
		change(other)
		change(s)
	}
	change(other)
	if n := roundTrips(p.listen(func() { change(s) })); n != 2 {
		t.Errorf("%d round trips", n)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		if doc, err := read(tx, "a"); doc != "old++++++++" {
			t.Errorf("the row is %q: %v", doc, err)
		}
		return nil
	}))
}

// TestWhatOthersChangeStaysReadWithTheLock also after turns that did not need it: starts of runs,
// which count, come in bursts.
func TestWhatOthersChangeStaysReadWithTheLock(t *testing.T) {
	p, s, other := behindProxy(t)
	change := func(s *Store, id string) {
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			doc, err := read(tx, id)
			return errors.Join(err, write(tx, id, doc+"+"))
		}))
	}
	for range 3 {
		change(other, "a")
		change(s, "a")
	}
	for range 10 { // a run's steps
		change(other, "a")
		change(s, "b")
	}
	change(other, "a")
	if n := roundTrips(p.listen(func() { change(s, "a") })); n != 2 {
		t.Errorf("%d round trips", n)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		if a, b, err := both(tx); a != "old"+strings.Repeat("+", 18) || b != "old b"+strings.Repeat("+", 10) {
			t.Errorf("the rows are %q and %q: %v", a, b, err)
		}
		return nil
	}))
}

// both reads two rows.
func both(tx store.Tx) (a, b string, err error) {
	a, errA := read(tx, "a")
	b, errB := read(tx, "b")
	return a, b, errors.Join(errA, errB)
}

// TestAViewOfTwoRowsIsTwoRoundTrips.
func TestAViewOfTwoRowsIsTwoRoundTrips(t *testing.T) {
	p, s, _ := behindProxy(t)
	look := func() {
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			a, b, err := both(tx)
			if a != "old" || b != "old b" {
				t.Errorf("it sees %q and %q", a, b)
			}
			return err
		}))
	}
	prepareAll(t, s)
	if n := roundTrips(p.listen(look)); n != 2 {
		t.Errorf("%d round trips", n)
	}
}

// prepareAll has each connection of Views prepare the statements of one of two rows, and waits
// until all of them are idle.
func prepareAll(t *testing.T, s *Store) {
	t.Helper()
	var reading, all sync.WaitGroup
	for range cap(s.views.turns) {
		reading.Add(1)
		all.Go(func() {
			var once sync.Once
			if err := s.View(context.Background(), func(tx store.Tx) error {
				_, _, err := both(tx)
				once.Do(reading.Done)
				reading.Wait() // so that each has a connection of its own
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	withoutConnections(s, func() {})
}

// TestAViewWhoseFirstRowChangesBeforeTheSecondIsReadRunsAgain, in the snapshot that it has
// then, and its connection stays open.
func TestAViewWhoseFirstRowChangesBeforeTheSecondIsReadRunsAgain(t *testing.T) {
	p, s, other := behindProxy(t)
	prepareAll(t, s)
	opened := s.views.db.Stats().OpenConnections
	calls, doc := 0, ""
	look := func() {
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			a, errA := read(tx, "a")
			if calls++; calls%2 == 1 {
				doc = fmt.Sprintf("new %d", calls)
				mustDo(t, other.Update(context.Background(), func(tx store.Tx) error {
					return errors.Join(write(tx, "a", doc), write(tx, "b", doc))
				}))
			}
			b, errB := read(tx, "b")
			if calls%2 == 0 && (a != doc || b != doc) {
				t.Errorf("it sees %q and %q", a, b)
			}
			return errors.Join(errA, errB)
		}))
	}
	look() // prepares the statement that reads one row in a snapshot
	withoutConnections(s, func() {})
	if n := roundTrips(p.listen(look)); n != 4 { // a; the snapshot with b and a; a and b in it
		t.Errorf("%d round trips", n)
	}
	withoutConnections(s, func() {})
	if calls != 4 {
		t.Errorf("it ran %d times", calls)
	}
	if n := s.views.db.Stats().OpenConnections; n != opened {
		t.Errorf("%d connections are left of %d", n, opened)
	}
}

// TestNobodyWaitsForTheEndOfAView.
func TestNobodyWaitsForTheEndOfAView(t *testing.T) {
	p, s, _ := behindProxy(t)
	end := p.arm(fault{of: requests, at: "ROLLBACK", silent: true})
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		_, _, err := both(tx)
		return err
	}))
	<-end.struck
	p.hangUp()
}

// TestADatabaseFarAwayGetsMoreConnections: most of them wait for the network.
func TestADatabaseFarAwayGetsMoreConnections(t *testing.T) {
	near := settings{readers: 4, farFrom: time.Millisecond}
	if s := near.at(200 * time.Microsecond); s.readers != 4 || s.far {
		t.Errorf("near: %d connections, far: %t", s.readers, s.far)
	}
	if s := near.at(2 * time.Millisecond); s.readers != maxReaders || !s.far {
		t.Errorf("far: %d connections, far: %t", s.readers, s.far)
	}
}
