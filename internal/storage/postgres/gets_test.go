package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// waitingGets waits until so many Views wait for their first row.
func waitingGets(s *Store, n int) {
	for !waits(s, n) {
		runtime.Gosched()
	}
}

func waits(s *Store, n int) bool {
	g := &s.views.gets
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) == n
}

// withoutConnections runs do while Views get no connection.
func withoutConnections(s *Store, do func()) {
	for range cap(s.views.turns) {
		s.views.turns <- struct{}{}
	}
	do()
	for range cap(s.views.turns) {
		<-s.views.turns
	}
}

// look is a View of one row.
func look(ctx context.Context, s *Store, table *store.Table, id string) (doc string, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		row, err := tx.Get(table, "acme", id)
		doc = string(row.Doc)
		return err
	})
	return doc, err
}

// TestFirstRowsOfViewsShareAMessage: each View gets its own, or that there is none.
func TestFirstRowsOfViewsShareAMessage(t *testing.T) {
	p, s, _ := behindProxy(t)
	ids := []string{"a", "b", "nowhere", "a"}
	var all sync.WaitGroup
	n := roundTrips(p.listen(func() {
		withoutConnections(s, func() {
			for _, id := range ids {
				all.Go(func() {
					doc, err := look(context.Background(), s, store.Models, id)
					if want := map[string]string{"a": "old", "b": "old b"}[id]; doc != want || (err != nil) != (want == "") {
						t.Errorf("%s is %q: %v", id, doc, err)
					}
				})
			}
			waitingGets(s, len(ids))
		})
		all.Wait()
	}))
	if n > 2 { // one to prepare the statement
		t.Errorf("%d round trips", n)
	}
}

// TestAReadThatFailsIsOneViewsAlone: the others in its message get their rows.
func TestAReadThatFailsIsOneViewsAlone(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustWrite(t, s, "a", "old")
	var all sync.WaitGroup
	withoutConnections(s, func() {
		for i := range 3 {
			all.Go(func() {
				if doc, err := look(context.Background(), s, store.Models, "a"); doc != "old" || err != nil {
					t.Errorf("the row is %q: %v", doc, err)
				}
			})
			waitingGets(s, 2*i+1)
			all.Go(func() {
				if _, err := look(context.Background(), s, &store.Table{Name: fmt.Sprint("nowhere_", i)}, "a"); err == nil || errors.Is(err, store.ErrUnavailable) {
					t.Errorf("a table that isn't there: %v", err)
				}
			})
			waitingGets(s, 2*i+2)
		}
	})
	all.Wait()
}

// TestTroubleWithARowIsOneViewsAlone, also where the server reports it as its own: the row is damaged,
// takes too much memory or time, or may not be read.
func TestTroubleWithARowIsOneViewsAlone(t *testing.T) {
	for _, code := range []string{"XX001", "53200", "57014", "42501"} {
		url := pgtest.Database(t)
		s := mustOpen(t, url)
		mustWrite(t, s, "a", "old")
		pgtest.Exec(t, url, "CREATE FUNCTION trouble() RETURNS text AS $$ BEGIN RAISE 'trouble' USING ERRCODE = '"+code+"'; END $$ LANGUAGE plpgsql VOLATILE;"+
			" CREATE VIEW troubled AS SELECT 'acme'::text AS tenant, trouble() AS id, 1::bigint AS version, ''::text AS doc")
		var all sync.WaitGroup
		withoutConnections(s, func() {
			for n, table := range []*store.Table{store.Models, {Name: "troubled"}, store.Models} {
				all.Go(func() {
					doc, err := look(context.Background(), s, table, "a")
					if table == store.Models && (doc != "old" || err != nil) {
						t.Errorf("%s: the row is %q: %v", code, doc, err)
					}
					if table != store.Models && !errors.Is(err, store.ErrUnavailable) {
						t.Errorf("%s: what is troubled: %v", code, err)
					}
				})
				waitingGets(s, n+1)
			}
		})
		all.Wait()
	}
}

// TestALostMessageHoldsUpOnlyItsOwnViews: the server never gets the first one.
func TestALostMessageHoldsUpOnlyItsOwnViews(t *testing.T) {
	p, s, _ := behindProxy(t)
	if s.views.gets.most != max(1, cap(s.views.turns)/connectionsPerMessage) {
		t.Fatalf("%d messages at once", s.views.gets.most)
	}
	lost := s.views.gets.most
	var all sync.WaitGroup
	for range lost {
		gone := p.arm(fault{of: requests, at: "FROM tenants", silent: true})
		all.Go(func() { _, _ = look(context.Background(), s, store.Tenants, "a") })
		<-gone.struck
	}
	if doc, err := look(context.Background(), s, store.Models, "a"); doc != "old" || err != nil {
		t.Errorf("the row is %q: %v", doc, err)
	}
	p.hangUp()
	all.Wait()
}

// TestWhoSharedALostMessageIsServedByAnother, however long it took to find out that it was lost:
// a connection that is lost would otherwise fail all who came at the same time.
func TestWhoSharedALostMessageIsServedByAnother(t *testing.T) {
	p, url := startProxy(t, pgtest.Database(t))
	settings := calm()
	settings.patience = 0
	s := mustOpenWith(t, url, settings)
	mustWrite(t, s, "a", "old")
	var all sync.WaitGroup
	lost := p.arm(fault{of: requests, at: "FROM tenants", silent: true})
	withoutConnections(s, func() {
		for n, table := range []*store.Table{store.Models, store.Tenants, store.Models} {
			all.Go(func() {
				doc, err := look(context.Background(), s, table, "a")
				if table == store.Models && (doc != "old" || err != nil) || table == store.Tenants && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%s: the row is %q: %v", table.Name, doc, err)
				}
			})
			waitingGets(s, n+1)
		}
	})
	<-lost.struck
	p.hangUp()
	all.Wait()
}

// TestAViewThatIsGivenUpWaitsForNoConnection, and a store that is closed doesn't wait for it.
func TestAViewThatIsGivenUpWaitsForNoConnection(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	withoutConnections(s, func() {
		ctx, giveUp := context.WithCancel(context.Background())
		answer := make(chan error)
		go func() {
			_, err := look(ctx, s, store.Models, "a")
			answer <- err
		}()
		waitingGets(s, 1)
		giveUp()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("View: %v", err)
		}
		waitingGets(s, 0)
	})
}

// TestCloseWaitsForViewsThatRun: what they read next is read.
func TestCloseWaitsForViewsThatRun(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustWrite(t, s, "a", "old")
	runs, closed := make(chan struct{}), make(chan struct{})
	answer := make(chan error)
	go func() {
		answer <- s.View(context.Background(), func(tx store.Tx) error {
			close(runs)
			<-s.views.closing
			_, errA := read(tx, "a")
			_, errB := read(tx, "a")
			return errors.Join(errA, errB)
		})
	}()
	<-runs
	go func() { mustClose(t, s); close(closed) }()
	mustDo(t, <-answer)
	<-closed
	if err := s.View(context.Background(), lookOnce); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a View of a closed store: %v", err)
	}
}

// TestAViewSeesWhatWasWrittenBeforeItBegan, also of a row that a message under way has read
// before: the answer is held up by the row behind it.
func TestAViewSeesWhatWasWrittenBeforeItBegan(t *testing.T) {
	url := pgtest.Database(t)
	s, other := mustOpen(t, url), mustOpen(t, url)
	s.views.gets.late = generous
	mustWrite(t, s, "a", "old")
	for _, table := range []*store.Table{store.Models, store.Tenants} { // what isn't prepared waits for the lock before it
		_, _ = look(context.Background(), s, table, "a")
	}
	locking, err := other.views.connect(context.Background(), time.Now())
	mustDo(t, err)
	defer locking.release(false)
	_, err = locking.run("BEGIN; LOCK TABLE tenants")
	mustDo(t, err)
	var all sync.WaitGroup
	withoutConnections(s, func() {
		all.Go(func() { _, _ = look(context.Background(), s, store.Models, "a") })
		waitingGets(s, 1)
		all.Go(func() { _, _ = look(context.Background(), s, store.Tenants, "a") })
		waitingGets(s, 2)
	})
	queued(t, url, 1)
	mustWrite(t, other, "a", "new")
	all.Go(func() {
		if doc, err := look(context.Background(), s, store.Models, "a"); doc != "new" || err != nil {
			t.Errorf("the row is %q: %v", doc, err)
		}
	})
	waitingGets(s, 1)
	_, err = locking.run("ROLLBACK")
	mustDo(t, err)
	all.Wait()
}

// TestAViewOfSeveralRowsIsOfOneMoment: of that of its second read.
func TestAViewOfSeveralRowsIsOfOneMoment(t *testing.T) {
	s, other, _ := two(t)
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		for _, id := range []string{"a", "b"} {
			if _, err := read(tx, id); err != nil {
				return err
			}
		}
		mustWrite(t, other, "c", "new")
		if doc, err := read(tx, "c"); doc != "old" || err != nil {
			t.Errorf("it shows what was committed meanwhile: %q, %v", doc, err)
		}
		return nil
	}))
}
