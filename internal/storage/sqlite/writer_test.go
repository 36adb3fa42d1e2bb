package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

func putModel(i int, tx store.Tx) error {
	return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte("{}")}, 0)
}

func countModels(t *testing.T, s *Store) (n int) {
	t.Helper()
	mustDo(t, s.View(context.Background(), func(tx store.Tx) (err error) {
		n, err = tx.Count(store.Tenants, "acme", store.Query{})
		return err
	}))
	return n
}

func TestWaitingUpdatesShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, emptyStore(t))
		before := s.writer.commits.Load()
		mustDo(t, errors.Join(inOneBatch(s, 20, func() {}, putModel)...))
		if commits := s.writer.commits.Load() - before; commits != 1 {
			t.Errorf("21 Updates took %d commits", commits)
		}
	})
}

func TestBatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, emptyStore(t))
		before := s.writer.commits.Load()
		mustDo(t, errors.Join(inOneBatch(s, 2*maxBatch, func() {}, putModel)...))
		if commits := s.writer.commits.Load() - before; commits != 3 {
			t.Errorf("%d Updates took %d commits", 2*maxBatch+1, commits)
		}
	})
}

// TestABatchEndsByTime: who comes after functions that have taken long waits for them alone, and
// not for all of their like.
func TestABatchEndsByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, emptyStore(t))
		before := s.writer.commits.Load()
		costly := func(i int, tx store.Tx) error {
			time.Sleep(turns.BatchTime / 2) // of the bubble
			return putModel(i, tx)
		}
		mustDo(t, errors.Join(inOneBatch(s, 8, func() {}, costly)...))
		if commits := s.writer.commits.Load() - before; commits != 4 { // two in each, and in the first one too that which costs nothing
			t.Errorf("9 Updates of which two fill a batch took %d commits", commits)
		}
	})
}

// TestFailureIsAnsweredAfterTheCommit: what a function failed on may not be
// durable yet.
func TestFailureIsAnsweredAfterTheCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, emptyStore(t))
		failed := make(chan error, 1)
		mustDo(t, s.Update(context.Background(), func(store.Tx) error {
			go func() {
				failed <- s.Update(context.Background(), func(store.Tx) error { return errors.New("no") })
			}()
			synctest.Wait()
			go func() {
				_ = s.Update(context.Background(), func(store.Tx) error {
					synctest.Wait()
					if len(failed) > 0 {
						t.Error("an Update was answered before the commit of its batch")
					}
					return nil
				})
			}()
			synctest.Wait()
			return nil
		}))
		if err := <-failed; err == nil || err.Error() != "no" {
			t.Errorf("the failed Update returned %v", err)
		}
		synctest.Wait()
	})
}

// TestFailedStatementCannotBeSwallowed: a function that ignores a failed
// statement must not be committed without it.
func TestFailedStatementCannotBeSwallowed(t *testing.T) {
	s := mustOpen(t, emptyStore(t))
	nowhere := &store.Table{Name: "nowhere"}
	for i := range 2 {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			mustDo(t, putModel(i, tx))
			_ = tx.Put(nowhere, "acme", store.Row{ID: "x"}, 0)
			if putModel(9, tx) == nil {
				t.Error("a statement ran after the failed one")
			}
			return nil
		})
		if err == nil || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update: %v", err)
		}
	}
	if n := countModels(t, s); n != 0 {
		t.Errorf("%d documents are there", n)
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return putModel(1, tx) }))
}

func TestCloseServesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := mustOpen(t, dir)
		var all sync.WaitGroup
		mustDo(t, s.Update(context.Background(), func(store.Tx) error {
			for i := range 10 {
				all.Go(func() {
					if err := s.Update(context.Background(), func(tx store.Tx) error { return putModel(i, tx) }); err != nil {
						t.Errorf("Update that waited at Close: %v", err)
					}
				})
			}
			synctest.Wait()
			all.Go(func() { mustClose(t, s) })
			synctest.Wait()
			return nil
		}))
		all.Wait()
		if n := countModels(t, mustOpen(t, dir)); n != 10 {
			t.Errorf("%d of 10 documents are there", n)
		}
	})
}

func TestCloseWaitsForViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, emptyStore(t))
		closed := make(chan struct{})
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			go func() { defer close(closed); mustClose(t, s) }()
			synctest.Wait()
			_, err := tx.Count(store.Tenants, "acme", store.Query{})
			return err
		}))
		<-closed
	})
}

func TestViewsBeyondTheConnectionsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := open(context.Background(), t.TempDir(), withCheckpoints(1000, 1))
		mustDo(t, err)
		defer mustClose(t, s)
		waited := make(chan error)
		ctx, cancel := context.WithCancel(context.Background())
		look := func(tx store.Tx) error { // a count may be known without a connection
			_, err := tx.List(store.Tenants, "acme", store.Query{})
			return err
		}
		mustDo(t, s.View(ctx, func(tx store.Tx) error {
			mustDo(t, look(tx))
			go func() { waited <- s.View(ctx, look) }()
			synctest.Wait()
			cancel()
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Errorf("the waiting View: %v", err)
			}
			return nil
		}))
		mustDo(t, s.View(context.Background(), func(store.Tx) error { return nil }))
	})
}

// TestCheckpointsKeepTheLogShort although Views come and go between the commits. None of
// them overlaps a flush, so the log need never start over by waiting for Views, as it does in
// TestLogStartsOverWhileReadersOverlap.
func TestCheckpointsKeepTheLogShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, err := open(context.Background(), dir, withCheckpoints(50, 2))
		mustDo(t, err)
		defer mustClose(t, s)
		for n := 1; n <= 200; n++ {
			mustPutPair(t, s, n)
			synctest.Wait() // until the rows are in their tables
			wantPair(t, s, n)
		}
		for _, name := range []string{databaseFile, journalFile} {
			if size := mustStat(t, s.dir.file(name+"-wal")).Size(); size > 80*frameSize {
				t.Errorf("the log of %s has %d pages", name, size/frameSize)
			}
		}
	})
}

// TestChangesRiseBeforeTheUpdateReturns, for the tables that it wrote to and no
// other: who finds the same count may go by what it has read before.
func TestChangesRiseBeforeTheUpdateReturns(t *testing.T) {
	s := mustOpen(t, emptyStore(t))
	models, tokens := s.Changes(store.Tenants), s.Changes(store.Tokens, store.TokenHashes)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return putModel(1, tx) }))
	if got := s.Changes(store.Tenants); got <= models {
		t.Errorf("%d changes, then %d", models, got)
	}
	models = s.Changes(store.Tenants)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.List(store.Tenants, "acme", store.Query{})
		return err
	}))
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return tx.Delete(store.Tenants, "acme", "1") }))
	if got := s.Changes(store.Tenants); got != models+1 {
		t.Errorf("%d changes, then %d", models, got)
	}
	if got := s.Changes(store.Tokens, store.TokenHashes); got != tokens {
		t.Errorf("tokens changed: %d, %d", tokens, got)
	}
}
