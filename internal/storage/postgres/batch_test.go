package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestCollisionRunsTheBatchAgain, be it found by a statement or by the COMMIT.
func TestCollisionRunsTheBatchAgain(t *testing.T) {
	for _, when := range []string{"NOT DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"} {
		for _, code := range []string{"40001", "40P01"} {
			url := pgtest.Database(t)
			s := mustOpen(t, url)
			pgtest.Exec(t, url, `CREATE SEQUENCE tries;
				CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
					IF nextval('tries') = 1 THEN RAISE EXCEPTION 'collision' USING ERRCODE = '`+code+`'; END IF; RETURN NULL; END $$;
				CREATE CONSTRAINT TRIGGER collides AFTER INSERT ON steps `+when+` FOR EACH ROW EXECUTE FUNCTION collide()`)
			calls, err := counted(s)
			if err != nil || calls != 2 {
				t.Errorf("%s, %s: the function ran %d times: %v", when, code, calls, err)
			}
			wantCount(t, s, 1)
		}
	}
}

// TestFullDiskIsSeen, and seen to be over.
func TestFullDiskIsSeen(t *testing.T) {
	url := pgtest.Database(t)
	s := mustOpen(t, url)
	pgtest.Exec(t, url, `CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$;
		CREATE CONSTRAINT TRIGGER fills AFTER INSERT ON steps FOR EACH ROW EXECUTE FUNCTION full()`)
	if err := s.Update(context.Background(), increment); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free space for PostgreSQL") {
		t.Errorf("Update: %v", err)
	}
	wantCount(t, s, 0)
	if !s.Full() {
		t.Error("the disk doesn't count as full")
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, "x") }))
	if s.Full() {
		t.Error("the disk still counts as full")
	}
}

// TestRefusedCommitChangesNothing where trying again is of no use.
func TestRefusedCommitChangesNothing(t *testing.T) {
	url := pgtest.Database(t)
	settings := calm()
	settings.patience = 100 * time.Millisecond
	s := mustOpenWith(t, url, settings)
	pgtest.Exec(t, url, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE CONSTRAINT TRIGGER refuses AFTER INSERT ON steps DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`)
	if err := s.Update(context.Background(), increment); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update: %v", err)
	}
	wantCountAtLast(t, s, 0)
	atLast(t, func() error {
		return s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, "x") })
	})
}

// TestBatchSharesACommit: those who wait while another runs.
func TestBatchSharesACommit(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustIncrement(t, s)
	before := s.writer.commits.Load()
	const waiting = 20
	errs := make(chan error)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		for range waiting {
			arrived := &watched{Context: context.Background(), seen: make(chan struct{})}
			go func() { errs <- s.Update(arrived, increment) }()
			<-arrived.seen
		}
		return increment(tx)
	}))
	for range waiting {
		mustDo(t, <-errs)
	}
	wantCount(t, s, waiting+2)
	if commits := s.writer.commits.Load() - before; commits > 3 { // who is seen may not wait yet
		t.Errorf("%d Updates took %d commits", waiting+1, commits)
	}
}

// TestABatchEndsByTime: who comes after functions that have taken long waits for them alone, and
// not for all of their like. Here each takes longer than a batch may.
func TestABatchEndsByTime(t *testing.T) {
	for name, inDraft := range map[string]bool{"in its turn": false, "in a draft": true} {
		t.Run(name, func(t *testing.T) {
			s, other := drafting(t)
			s.writer.settings.batchTime = 1
			const waiting = 6
			for _, store := range []*Store{s, other, s} { // so s knows that it isn't alone
				mustIncrement(t, store)
			}
			before, errs := s.writer.commits.Load(), make(chan error)
			var once sync.Once // a function may run again
			first := func(tx store.Tx) error {
				once.Do(func() {
					for range waiting {
						arrived := &watched{Context: context.Background(), seen: make(chan struct{})}
						go func() { errs <- s.Update(arrived, increment) }()
						<-arrived.seen
					}
				})
				return increment(tx)
			}
			if inDraft {
				mustDo(t, whileLocked(t, s, other, increment, first))
			} else {
				mustDo(t, s.Update(context.Background(), first))
			}
			for range waiting {
				mustDo(t, <-errs)
			}
			if commits := s.writer.commits.Load() - before; commits != waiting+1 {
				t.Errorf("%d Updates, of which each fills a batch, took %d commits", waiting+1, commits)
			}
		})
	}
}

// watched tells when somebody begins to wait for its end.
type watched struct {
	context.Context
	seen chan struct{}
}

// Done implements context.Context.
func (w *watched) Done() <-chan struct{} {
	select {
	case <-w.seen:
	default:
		close(w.seen)
	}
	return nil
}

// TestFailedStatementCannotBeSwallowed: a function that ignores a failed
// statement must not be committed without it, and the batch goes on.
func TestFailedStatementCannotBeSwallowed(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	nowhere := &store.Table{Name: "nowhere"}
	err := s.Update(context.Background(), func(tx store.Tx) error {
		mustDo(t, putModel(tx, "a"))
		_ = tx.Put(nowhere, "acme", store.Row{ID: "x"}, 0)
		if putModel(tx, "b") == nil {
			t.Error("a statement ran after the failed one")
		}
		return nil
	})
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update: %v", err)
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, "a") }))
}

// TestCommitsAreSynchronous whatever the database's default.
func TestCommitsAreSynchronous(t *testing.T) {
	url := pgtest.Database(t)
	pgtest.Exec(t, url, "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET synchronous_commit = off'; END $$")
	s := mustOpenWith(t, url, defaults())
	mustDo(t, s.Update(context.Background(), func(store.Tx) error {
		for setting, want := range map[string]string{
			"synchronous_commit": "on", "idle_in_transaction_session_timeout": "5s", "statement_timeout": "10s",
			"lock_timeout": "10s", "transaction_isolation": "read committed",
		} {
			got, err := s.writer.session.run("SHOW " + setting)
			if err != nil || got[0] != want {
				t.Errorf("%s is %s, want %s: %v", setting, got, want, err)
			}
		}
		return nil
	}))
}

// TestServerThatForgetsStatements, like a pooler in transaction mode, is noticed.
func TestServerThatForgetsStatements(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustIncrement(t, s)
	mustIncrement(t, s) // an insert, then an update: what follows needs no other statement
	_, err := s.writer.session.run("DEALLOCATE ALL")
	mustDo(t, err)
	calls, err := counted(s)
	if err != nil || calls != 2 {
		t.Fatalf("the function ran %d times: %v", calls, err)
	}
	_, err = s.writer.session.run("DEALLOCATE ALL")
	mustDo(t, err)
	calls, err = counted(s)
	if err != nil || calls != 1 {
		t.Fatalf("the function ran %d times: %v", calls, err)
	}
	wantCount(t, s, 4)
}

// TestTextThatCannotBeKept is refused, and isn't there to be found.
func TestTextThatCannotBeKept(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	for _, id := range []string{"a\x00", "\xff"} {
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			if err := putModel(tx, id); err == nil {
				t.Errorf("%q was kept", id)
			}
			if _, err := tx.Get(store.Tenants, "acme", id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("Get %q: %v", id, err)
			}
			n, err := tx.Count(store.Tenants, "acme", store.Query{Where: []store.Filter{store.Equal("id", id)}})
			if n != 0 || err != nil {
				t.Errorf("Count %q: %d, %v", id, n, err)
			}
			return tx.Delete(store.Tenants, "acme", id)
		}))
	}
}

// TestARowThatIsTakenForNewAndDeletedIsGone, though no INSERT finds out that it was there.
func TestARowThatIsTakenForNewAndDeletedIsGone(t *testing.T) {
	claim := store.Row{ID: "key", Doc: []byte("{}"), New: true}
	putIt := func(tx store.Tx) error { return tx.Put(store.Claims, "acme", claim, 0) }
	for name, drafted := range map[string]bool{"in its turn": false, "in a draft": true} {
		t.Run(name, func(t *testing.T) {
			s, other := drafting(t)
			run := func(fn func(store.Tx) error) error { return whileLocked(t, s, other, increment, fn) }
			if !drafted {
				s, other = other, s
				run = func(fn func(store.Tx) error) error { return s.Update(context.Background(), fn) }
			}
			mustDo(t, other.Update(context.Background(), putIt))
			for _, store := range []*Store{s, other, s} {
				mustIncrement(t, store)
			}
			var put error
			mustDo(t, run(func(tx store.Tx) error {
				put = putIt(tx)
				return tx.Delete(store.Claims, "acme", "key")
			}))
			if !errors.Is(put, store.ErrConflict) {
				t.Errorf("a row that is there was put as new: %v", put)
			}
			mustDo(t, other.View(context.Background(), func(tx store.Tx) error {
				if _, err := tx.Get(store.Claims, "acme", "key"); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the deleted row: %v", err)
				}
				return nil
			}))
		})
	}
}
