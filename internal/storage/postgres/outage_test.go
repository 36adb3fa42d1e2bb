package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestRestartsLoseNothingAcknowledged restarts the server in every way under
// writers of two stores. What was acknowledged is there, what was refused is not.
func TestRestartsLoseNothingAcknowledged(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	url := server.Database(t)
	stores := []*Store{mustOpenWith(t, url, impatient()), mustOpenWith(t, url, impatient())}
	var l log
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { l.write(ctx, t, stores[i%2], i) })
	}
	for _, end := range []func(testing.TB){server.Stop, server.Kill} {
		l.wait(t, 100)
		end(t)
		server.Start(t)
		back := time.Now()
		l.wait(t, 100)
		wantWithin(t, back, "to write again after a restart")
	}
	cancel()
	all.Wait()
	l.check(t, stores[0])
	l.check(t, stores[1])
	t.Logf("%d acknowledged, %d refused", len(l.acknowledged), len(l.refused))
}

// impatient are settings with which an Update may be refused in an outage, so that
// refusals are looked at too.
func impatient() settings {
	s := calm()
	s.patience = defaults().patience
	return s
}

// log is what writers were told.
type log struct {
	mu                    sync.Mutex
	acknowledged, refused []string
	more                  chan struct{} // one for each acknowledgement, while somebody waits
}

func (l *log) write(ctx context.Context, t *testing.T, s *Store, writer int) {
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("%d-%d", writer, n)
		err := s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, id) })
		if err != nil && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("put %s: %v", id, err)
		}
		l.add(id, err == nil)
	}
}

func putModel(tx store.Tx, id string) error {
	return tx.Put(store.Tenants, "acme", store.Row{ID: id, Doc: []byte("{}")}, 0)
}

func (l *log) add(id string, acknowledged bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !acknowledged {
		l.refused = append(l.refused, id)
		return
	}
	l.acknowledged = append(l.acknowledged, id)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// wait waits for n more acknowledgements.
func (l *log) wait(t *testing.T, n int) {
	t.Helper()
	more := make(chan struct{}, n)
	l.mu.Lock()
	l.more = more
	l.mu.Unlock()
	hangs := time.After(generous)
	for i := range n {
		select {
		case <-more:
		case <-hangs:
			t.Fatalf("%d of %d Updates were acknowledged in %s", i, n, generous)
		}
	}
}

func (l *log) check(t *testing.T, s *Store) {
	t.Helper()
	stored := map[string]bool{}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Tenants, "acme", store.Query{})
		for _, row := range rows {
			stored[row.ID] = true
		}
		return err
	}))
	for _, id := range l.acknowledged {
		if !stored[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	for _, id := range l.refused {
		if stored[id] {
			t.Errorf("%s was refused and is there", id)
		}
	}
}

// lookOnce reads a row, whether it is there or not, and lookTwice two.
func lookOnce(tx store.Tx) error {
	if _, err := tx.Get(store.Steps, "acme", "counter"); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

func lookTwice(tx store.Tx) error { return errors.Join(lookOnce(tx), lookOnce(tx)) }

// TestUpdatesAndViewsAreUnavailableWithoutAServer, while it is gone, and work when it
// is back.
func TestUpdatesAndViewsAreUnavailableWithoutAServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	settings := calm()
	settings.patience = 200 * time.Millisecond
	s := mustOpenWith(t, server.Database(t), settings)
	mustIncrementAtLast(t, s)
	wantCount(t, s, 1)
	server.Stop(t)
	begun := time.Now()
	errs := make(chan error)
	for range 20 {
		go func() { errs <- s.Update(context.Background(), increment) }()
		go func() { errs <- s.View(context.Background(), lookOnce) }()
	}
	for range 40 {
		if err := <-errs; !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("without a server: %v", err)
		}
	}
	wantWithin(t, begun, "40 answers")
	server.Start(t)
	mustIncrementAtLast(t, s)
	wantCountAtLast(t, s, 2)
}

// mustIncrementAtLast is for a store of little patience, which may refuse what a slow
// server would do: a refused Update has changed nothing and is made again.
func mustIncrementAtLast(t testing.TB, s *Store) {
	t.Helper()
	atLast(t, func() error { return s.Update(context.Background(), increment) })
}

func wantCountAtLast(t testing.TB, s *Store, want int64) {
	t.Helper()
	atLast(t, func() error { return s.View(context.Background(), lookOnce) })
	wantCount(t, s, want)
}

func atLast(t testing.TB, do func() error) {
	t.Helper()
	for until := time.Now().Add(generous); ; {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) || time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// TestContextEndsTheWaitForAServer of those who have not begun.
func TestContextEndsTheWaitForAServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	s := mustOpen(t, server.Database(t))
	server.Stop(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	never := func(store.Tx) error { t.Error("the function ran"); return nil }
	begun := time.Now()
	if err := s.Update(ctx, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Update: %v", err)
	}
	if err := s.View(ctx, never); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("View: %v", err)
	}
	wantWithin(t, begun, "to give up")
}

// TestStandbyIsUnavailable: a server that can only be read is no server.
func TestStandbyIsUnavailable(t *testing.T) {
	url := pgtest.Database(t)
	settings := calm()
	settings.patience = 100 * time.Millisecond
	s := mustOpenWith(t, url, settings)
	mustIncrementAtLast(t, s)
	pgtest.Exec(t, url, "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$")
	pgtest.Exec(t, url, endOthers)
	if err := s.Update(context.Background(), increment); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update: %v", err)
	}
	pgtest.Exec(t, url, "BEGIN READ WRITE; DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' RESET default_transaction_read_only'; END $$; COMMIT")
	mustIncrementAtLast(t, s)
	wantCountAtLast(t, s, 2)
}

const endOthers = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

// TestEndedSessionsAreReplaced: an administrator ends all sessions, between the
// transactions and inside them.
func TestEndedSessionsAreReplaced(t *testing.T) {
	url := pgtest.Database(t)
	s := mustOpen(t, url)
	mustIncrement(t, s)
	wantCount(t, s, 1)
	pgtest.Exec(t, url, endOthers)
	wantCount(t, s, 1)
	mustIncrement(t, s)
	runs := 0
	again := func(fn func(store.Tx) error) func(store.Tx) error {
		return func(tx store.Tx) error {
			if runs++; runs == 1 {
				pgtest.Exec(t, url, endOthers)
			}
			return fn(tx)
		}
	}
	mustDo(t, s.Update(context.Background(), again(increment)))
	if runs != 2 {
		t.Errorf("the Update's function ran %d times", runs)
	}
	runs = 0
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		if err := lookTwice(tx); err != nil { // it has a snapshot
			return err
		}
		return again(lookOnce)(tx)
	}))
	if runs != 2 {
		t.Errorf("the View's function ran %d times", runs)
	}
	wantCount(t, s, 3)
}
