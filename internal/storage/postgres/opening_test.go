package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestTogetherOpenedStoresMigrateOnce: replicas start at the same time on an empty
// database.
func TestTogetherOpenedStoresMigrateOnce(t *testing.T) {
	url := pgtest.Database(t)
	stores := make([]*Store, 5)
	errs := make([]error, len(stores))
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() { stores[i], errs[i] = open(context.Background(), url, calm()) })
	}
	all.Wait()
	mustDo(t, errors.Join(errs...))
	for _, s := range stores {
		mustIncrement(t, s)
	}
	wantCount(t, stores[0], int64(len(stores)))
	if got := ask(t, url, "SELECT version_id::text FROM goose_db_version WHERE version_id > 0 GROUP BY version_id HAVING COUNT(*) <> 1"); len(got) > 0 {
		t.Errorf("these migrations were run more than once: %s", got)
	}
	for _, s := range stores {
		mustClose(t, s)
	}
}

// ask returns the first column of an answer.
func ask(t testing.TB, url, query string) (found []string) {
	t.Helper()
	db, err := parse(url, defaults())
	mustDo(t, err)
	pool := db.patientPool()
	defer func() { mustDo(t, pool.Close()) }()
	rows, err := pool.Query(query)
	mustDo(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value string
		mustDo(t, rows.Scan(&value))
		found = append(found, value)
	}
	mustDo(t, rows.Err())
	return found
}

func TestStoreOfAHigherLevelIsRefused(t *testing.T) {
	for name, change := range map[string]string{
		"level":            "UPDATE countersign_writer SET level = 3 WHERE id = 1",
		"level and schema": "UPDATE countersign_writer SET level = 3 WHERE id = 1; " + migratedFurther,
	} {
		t.Run(name, func(t *testing.T) {
			url := pgtest.Database(t)
			mustClose(t, mustOpen(t, url))
			pgtest.Exec(t, url, change)
			_, err := Open(context.Background(), url)
			if err == nil || !strings.Contains(err.Error(), "was written by a newer release") || strings.Contains(err.Error(), "\n") {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

// migratedFurther is what a newer release may do without raising the level.
const migratedFurther = `ALTER TABLE steps ADD COLUMN weight BIGINT NOT NULL DEFAULT 7;
	CREATE TABLE additions (tenant TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, id));
	INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`

// TestTablesOfANewerReleaseAreUsedAsTheyAre where the level is ours: by an older
// release that runs, and by one that starts again or anew.
func TestTablesOfANewerReleaseAreUsedAsTheyAre(t *testing.T) {
	url := pgtest.Database(t)
	running := mustOpen(t, url)
	mustIncrement(t, running)
	pgtest.Exec(t, url, migratedFurther)
	pgtest.Exec(t, url, "UPDATE steps SET weight = 8")
	mustIncrement(t, running)
	started := mustOpen(t, url)
	mustIncrement(t, started)
	wantCount(t, running, 3)
	if got := ask(t, url, "SELECT weight::text FROM steps"); len(got) != 1 || got[0] != "8" {
		t.Errorf("an older release's write leaves %v in a column that it doesn't know", got)
	}
	if running.Newer() || !started.Newer() {
		t.Error("it isn't seen whose tables these are")
	}
	if got := ask(t, url, "SELECT MAX(version_id)::text FROM goose_db_version"); got[0] != "99" {
		t.Errorf("the newest migration is now %s", got[0])
	}
}

// TestNewerReleaseEndsTheOlderOne while it runs.
func TestNewerReleaseEndsTheOlderOne(t *testing.T) {
	url := pgtest.Database(t)
	s := mustOpen(t, url)
	mustIncrement(t, s)
	pgtest.Exec(t, url, "UPDATE countersign_writer SET level = 3 WHERE id = 1")
	err := s.Update(context.Background(), func(store.Tx) error { t.Error("the function ran"); return nil })
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "newer release") {
		t.Errorf("Update: %v", err)
	}
	<-s.Failed()
	wantCount(t, s, 1)
}

func TestAddressThatCannotBeUsedIsRefused(t *testing.T) {
	url := pgtest.Database(t)
	for _, c := range [][2]string{
		{"/var/lib/countersign", "must begin with postgres://"},
		{"postgres://user:secret@host:port/x", "the address of the store can't be used"},
		{strings.Replace(url, "/test_", "/none_", 1), "does not exist"},
		{strings.Replace(url, "postgres@", "nobody:secret@", 1), "does not exist"},
	} {
		_, err := Open(context.Background(), c[0])
		if err == nil || !strings.Contains(err.Error(), c[1]) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): %v", c[0], err)
		}
	}
}

// TestMigrationsAndTablesAgree compares the schema, column by column, with what
// store.Tables calls for.
func TestMigrationsAndTablesAgree(t *testing.T) {
	url := pgtest.Database(t)
	mustClose(t, mustOpen(t, url))
	var want []string
	for _, table := range store.Tables() {
		columns := []string{"doc text", "id text C", "tenant text C", "version bigint"}
		for _, c := range table.Columns {
			columns = append(columns, c.Name+map[bool]string{false: " text C", true: " bigint"}[c.Integer])
		}
		for _, c := range columns {
			want = append(want, table.Name+" "+c)
		}
	}
	got := ask(t, url, `SELECT concat_ws(' ', table_name, column_name, data_type, collation_name) FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%' AND table_name NOT LIKE 'countersign%' AND is_nullable = 'NO'`)
	diff := cmp.Diff(set(want), set(got))
	if diff != "" {
		t.Errorf("the migrations (+) and store.Tables (-) differ:\n%s", diff)
	}
}

func set(names []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}
