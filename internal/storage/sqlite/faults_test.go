package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

func TestDiskFullIsUnavailableUntilSpaceReturns(t *testing.T) {
	s, d := mustOpenFaulty(t, 6)
	if err := putPair(s, 1); err != nil {
		t.Fatal(err)
	}
	d.fail(fault{on: writes, nth: 1, sticky: true, code: lib.SQLITE_FULL})
	for range 3 {
		if err := putPair(s, 2); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("Update on a full disk: %v", err)
		}
		if got, err := readPair(s); got != 1 || err != nil {
			t.Fatalf("the store is at %d (%v), want 1", got, err)
		}
	}
	d.mend()
	if err := putPair(s, 2); err != nil {
		t.Fatalf("Update after space returned: %v", err)
	}
	wantHealthy(t, s)
}

func TestDiskFullFailsTheWholeBatch(t *testing.T) {
	synctest.Test(t, diskFullFailsTheWholeBatch)
}

func diskFullFailsTheWholeBatch(t *testing.T) {
	s, d := mustOpenFaulty(t, 6)
	errs := inOneBatch(s, 5, func() { d.fail(fault{on: writes, nth: 1, sticky: true, code: lib.SQLITE_FULL}) },
		func(i int, tx store.Tx) error {
			if i == 3 {
				return errors.New("a failure of its own")
			}
			return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
		})
	for i, err := range errs {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update %d of the batch: %v", i, err)
		}
	}
}

func TestFailedSyncPoisonsForGood(t *testing.T) {
	synctest.Test(t, failedSyncPoisonsForGood)
}

func failedSyncPoisonsForGood(t *testing.T) {
	s, d := mustOpenFaulty(t, 6)
	if err := putPair(s, 1); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // its rows are in their tables: the next sync is the batch's
	d.fail(fault{on: syncs, nth: 1})
	errs := inOneBatch(s, 4, func() {}, func(i int, tx store.Tx) error {
		return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
	})
	for i, err := range errs {
		if !errors.Is(err, store.ErrInDoubt) || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update %d of the batch: %v", i, err)
		}
	}
	<-s.Failed()
	if err := putPair(s, 2); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update after the failed sync: %v", err)
	}
	if got, err := readPair(s); got != 1 || err != nil {
		t.Errorf("View after the failed sync: %d, %v", got, err)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		if rows, err := tx.List(store.Tenants, "acme", store.Query{}); len(rows) > 0 || err != nil {
			t.Errorf("a View shows %d rows of the batch that is in doubt: %v", len(rows), err)
		}
		return nil
	}))
	wantNoSyncAfterTheFailedOne(t, s, d)
}

// TestAnyFailedSyncPoisons: of a commit, of the rows that are written behind it, or of a
// checkpoint of either.
func TestAnyFailedSyncPoisons(t *testing.T) {
	for nth := 1; nth <= 16; nth++ {
		synctest.Test(t, func(t *testing.T) {
			s, d := mustOpenFaulty(t, 6)
			d.fail(fault{on: syncs, nth: nth})
			acknowledged := 0
			for i := 1; i <= 10; i++ {
				if putPair(s, i) == nil {
					acknowledged = i
				}
				synctest.Wait()
			}
			if acknowledged == 10 {
				t.Errorf("sync %d: all Updates were acknowledged", nth)
			}
			<-s.Failed()
			wantNoSyncAfterTheFailedOne(t, s, d)
		})
	}
}

// TestACommitAmidWhichAFlushFailsIsRefused: a sync failed while its function ran, so its own
// sync would report success for pages that are lost. Nothing of it is written, and there is no
// doubt about that.
func TestACommitAmidWhichAFlushFailsIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := mustOpenFaulty(t, 6)
		flush := d.holdFlushes()
		mustDo(t, putPair(s, 1))
		d.fail(fault{on: syncs, nth: 1}) // of the rows that are written behind
		err := s.Update(context.Background(), func(tx store.Tx) error {
			close(flush)
			synctest.Wait()
			if s.writer.flusher.failure() == nil {
				t.Error("no flush has failed yet")
			}
			return tx.Put(store.Tenants, "acme", store.Row{ID: "late", Doc: []byte("{}")}, 0)
		})
		if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrInDoubt) {
			t.Errorf("%v", err)
		}
		wantNoSyncAfterTheFailedOne(t, s, d)
	})
}

func wantNoSyncAfterTheFailedOne(t *testing.T, s *Store, d *disk) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if n := d.syncsAfterTheFailedOne(); n > 0 {
		t.Errorf("%d syncs after the failed one", n)
	}
}

func isFailed(s *Store) bool {
	select {
	case <-s.Failed():
		return true
	default:
		return false
	}
}

func wantHealthy(t *testing.T, s *Store) {
	t.Helper()
	if isFailed(s) {
		t.Error("the store is poisoned")
	}
}

// putPair sets two documents to n, in one Update. They are there for certain
// together or not at all.
func putPair(s *Store, n int) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		for _, id := range []string{"left", "right"} {
			row, err := tx.Get(store.Tenants, "pair", id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			doc := store.Row{ID: id, Doc: fmt.Appendf(nil, `{"n":%d,"fill":"%0*d"}`, n, 3000, n)}
			if err := tx.Put(store.Tenants, "pair", doc, row.Version); err != nil {
				return err
			}
		}
		return nil
	})
}

// readPair returns what putPair set last, 0 if nothing.
func readPair(s *Store) (n int, err error) {
	err = s.View(context.Background(), func(tx store.Tx) (err error) { n, err = pairIn(tx); return err })
	return n, err
}

func pairIn(tx store.Tx) (int, error) {
	rows, err := tx.List(store.Tenants, "pair", store.Query{})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	both := make([]int, len(rows))
	for i, row := range rows {
		if _, err := fmt.Sscanf(string(row.Doc), `{"n":%d,`, &both[i]); err != nil {
			return 0, err
		}
	}
	if len(both) != 2 || both[0] != both[1] {
		return 0, fmt.Errorf("half a pair: %v", both)
	}
	return both[0], nil
}

// inOneBatch runs fn n times in Updates that surely share a commit: they queue
// up while another Update, the last in the result, has the turn. ready is called
// before the commit. It must be called in a synctest bubble.
func inOneBatch(s *Store, n int, ready func(), fn func(i int, tx store.Tx) error) []error {
	errs := make([]error, n+1)
	var all sync.WaitGroup
	errs[n] = s.Update(context.Background(), func(store.Tx) error {
		for i := range n {
			all.Go(func() {
				errs[i] = s.Update(context.Background(), func(tx store.Tx) error { return fn(i, tx) })
			})
		}
		synctest.Wait()
		ready()
		return nil
	})
	all.Wait()
	return errs
}
