package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// write puts a model, whatever its version is.
func write(tx store.Tx, id, doc string) error {
	row, err := tx.Get(store.Models, "acme", id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return tx.Put(store.Models, "acme", store.Row{ID: id, Keys: []any{int64(0)}, Doc: []byte(doc)}, row.Version)
}

func read(tx store.Tx, id string) (string, error) {
	row, err := tx.Get(store.Models, "acme", id)
	return string(row.Doc), err
}

// alone opens two stores on a database, of which the first runs its next batch ahead and has
// the rows a, b and c cached.
func alone(t *testing.T) (s, other *Store, url string) {
	t.Helper()
	url = pgtest.Database(t)
	settings := calm()
	settings.aheadFor = generous
	s, other = mustOpenWith(t, url, settings), mustOpen(t, url)
	for range 2 {
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			return errors.Join(write(tx, "a", "old"), write(tx, "b", "none"), write(tx, "c", "none"))
		}))
	}
	if !s.writer.mayRunAhead() {
		t.Fatal("the store doesn't run ahead")
	}
	return s, other, url
}

// TestABatchThatRunsAheadIsRunAgainIfOthersWrite: what it writes, what it refuses and what
// it lists is by what they wrote. In its first run they write while it runs, which they could
// not if it had the lock.
func TestABatchThatRunsAheadIsRunAgainIfOthersWrite(t *testing.T) {
	for name, fn := range map[string]func(tx store.Tx, doc string) error{
		"it writes another row": func(tx store.Tx, doc string) error { return write(tx, "b", doc) },
		"it fails": func(tx store.Tx, doc string) error {
			if doc == "old" {
				return errors.New("old")
			}
			return write(tx, "b", doc)
		},
		"it lists, then writes": func(tx store.Tx, doc string) error {
			_, err := tx.List(store.Tenants, "acme", store.Query{})
			return errors.Join(err, write(tx, "b", doc))
		},
		"it reads an unknown row, then writes": func(tx store.Tx, doc string) error {
			_, err := tx.Get(store.Tenants, "acme", "unknown")
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return write(tx, "b", doc)
		},
		"it lists what it wrote": func(tx store.Tx, doc string) error {
			err := write(tx, "b", doc)
			_, listErr := tx.List(store.Models, "acme", store.Query{})
			return errors.Join(err, listErr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, other, _ := alone(t)
			calls := 0
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
				calls++
				doc, err := read(tx, "a")
				if err != nil {
					return err
				}
				if calls == 1 {
					mustDo(t, other.Update(context.Background(), func(tx store.Tx) error { return write(tx, "a", "new") }))
				}
				return fn(tx, doc)
			}))
			if calls < 2 {
				t.Errorf("the function ran %d times", calls)
			}
			mustDo(t, other.View(context.Background(), func(tx store.Tx) error {
				if doc, err := read(tx, "b"); doc != "new" {
					t.Errorf("b was written from %q: %v", doc, err)
				}
				return nil
			}))
		})
	}
}

// TestABatchThatRunsAheadIsRunOnceIfNobodyElseWrites, and without a transaction until then.
func TestABatchThatRunsAheadIsRunOnceIfNobodyElseWrites(t *testing.T) {
	s, _, url := alone(t)
	for range 3 {
		calls := 0
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			calls++
			if holders := ask(t, url, "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'"); len(holders) > 0 {
				t.Errorf("%v are in a transaction", holders)
			}
			return write(tx, "b", "x")
		}))
		if calls != 1 {
			t.Errorf("the function ran %d times", calls)
		}
	}
}

// TestABatchDoesNotBuildOnWhatTheDatabaseHasLost: after a failover to a server that lacks
// this writer's last commit, the turn may be the same again.
func TestABatchDoesNotBuildOnWhatTheDatabaseHasLost(t *testing.T) {
	s, other, url := alone(t)
	pgtest.Exec(t, url, "UPDATE countersign_batches SET batch = batch - 1; UPDATE models SET doc = 'restored' WHERE id = 'a'")
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		doc, err := read(tx, "a")
		return errors.Join(err, write(tx, "b", doc))
	}))
	mustDo(t, other.View(context.Background(), func(tx store.Tx) error {
		if doc, err := read(tx, "b"); doc != "restored" {
			t.Errorf("b was written from %q: %v", doc, err)
		}
		return nil
	}))
}

// TestABatchThatRunsAheadHasItsSettings, and its session keeps none of them.
func TestABatchThatRunsAheadHasItsSettings(t *testing.T) {
	s, _, url := alone(t)
	pgtest.Exec(t, url, `CREATE TABLE seen (name TEXT, setting TEXT);
		CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen SELECT name, current_setting(name) FROM unnest(ARRAY[
			'synchronous_commit', 'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_isolation', 'plan_cache_mode']) AS name; RETURN NEW; END $$;
		CREATE TRIGGER looks BEFORE UPDATE ON models FOR EACH ROW EXECUTE FUNCTION look()`)
	_, err := s.writer.session.run("SET synchronous_commit = off")
	mustDo(t, err)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return write(tx, "b", "x") }))
	want := map[string]string{
		"synchronous_commit": "on", "statement_timeout": "5min", "lock_timeout": "5min",
		"idle_in_transaction_session_timeout": "5min", "transaction_isolation": "read committed", "plan_cache_mode": "force_generic_plan",
	}
	for name, value := range want {
		if got := ask(t, url, "SELECT setting FROM seen WHERE name = '"+name+"'"); len(got) != 1 || got[0] != value {
			t.Errorf("%s was %q, want %s", name, got, value)
		}
	}
	for name, value := range map[string]string{"synchronous_commit": "off", "plan_cache_mode": "auto", "lock_timeout": "0"} {
		if got, err := s.writer.session.run("SHOW " + name); err != nil || got[0] != value {
			t.Errorf("%s stays %q: %v", name, got, err)
		}
	}
}

// TestANewerReleaseStopsABatchThatRunsAhead.
func TestANewerReleaseStopsABatchThatRunsAhead(t *testing.T) {
	s, _, url := alone(t)
	pgtest.Exec(t, url, "UPDATE countersign_writer SET level = level + 2")
	if err := s.Update(context.Background(), func(tx store.Tx) error { return write(tx, "b", "x") }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update: %v", err)
	}
	<-s.Failed()
}

// TestABatchRunsAheadOnlySoonAfterACommit: a connection that was idle may be lost.
func TestABatchRunsAheadOnlySoonAfterACommit(t *testing.T) {
	s, _, _ := alone(t)
	s.writer.at = time.Now().Add(-2 * generous)
	if s.writer.mayRunAhead() {
		t.Error("it would run ahead")
	}
}
