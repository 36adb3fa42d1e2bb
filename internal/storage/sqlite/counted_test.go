package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

var runStatuses = []string{"READY", "RUNNING", "WAITING_APPROVAL", "RECOVERY_REQUIRED", "COMPLETED", "FAILED", "CANCELLED"}

// TestCountedRunsAreThoseThatAreThere: whatever is written, in whatever order of time and
// however many commits at once, totals and pages are those of a store that counts what it
// finds; and what is in no layer any more is counted in the database.
func TestCountedRunsAreThoseThatAreThere(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 6))
	dir, reference := emptyStore(t), memory.New()
	for range fewer(8, 4) {
		s, err := open(context.Background(), dir, awaiting([]int{1, 300_000, 1 << 20, 64 << 20}[random.IntN(4)]))
		mustDo(t, err)
		for range 1 + random.IntN(5) {
			changes := make([]runChange, []int{1, 50, 3000}[random.IntN(3)])
			for i := range changes {
				changes[i] = anyChange(random)
			}
			for _, each := range []store.Store{s, reference} {
				mustDo(t, each.Update(context.Background(), func(tx store.Tx) error {
					for _, c := range changes {
						if err := c.apply(tx); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		}
		compareLists(t, random, s, reference)
		mustClose(t, s)
		inDatabase(t, dir, func(db *sql.DB) { checkCounts(t, db) })
		s = mustOpen(t, dir)
		compareLists(t, random, s, reference)
		mustClose(t, s)
	}
}

// TestAPageBehindTheLastRunIsEmpty, also where it is found by the counts.
func TestAPageBehindTheLastRunIsEmpty(t *testing.T) {
	dir := emptyStore(t)
	s := mustOpen(t, dir)
	const many = 2400
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		for i := range many {
			c := runChange{tenant: "acme", id: fmt.Sprintf("run-%04d", i), status: "COMPLETED", created: int64(i)}
			if err := c.apply(tx); err != nil {
				return err
			}
		}
		return nil
	}))
	mustClose(t, s)
	s = mustOpen(t, dir)
	for _, where := range [][]store.Filter{nil, {store.Equal("status", "COMPLETED")}} {
		for offset, want := range map[int]int{many - 1: 1, many: 0, many + 7: 0, 1 << 40: 0} {
			q := store.Query{Where: where, Order: []store.Order{{Column: "created", Descending: true}}, Limit: 10, Offset: offset}
			if n := len(idsOf(t, s, "acme", q)); n != want {
				t.Errorf("%d runs from the %dth of %d on, want %d", n, offset, many, want)
			}
		}
	}
}

// checkCounts compares each range of counts with the rows of the table, and has no range but
// the first be empty, and none larger than it may be.
func checkCounts(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query(`WITH ranges AS (
			SELECT tenant, status AS of, since, n, COALESCE(LEAD(since) OVER (PARTITION BY tenant, status ORDER BY since) - 1, 9223372036854775807) AS last FROM runs_counted)
		SELECT tenant, of, since, n,
			(SELECT COUNT(*) FROM runs WHERE runs.tenant = ranges.tenant AND of IN ('', status) AND created BETWEEN since AND last),
			(SELECT COUNT(DISTINCT created) FROM runs WHERE runs.tenant = ranges.tenant AND of IN ('', status) AND created BETWEEN since AND last)
		FROM ranges`)
	mustDo(t, err)
	defer func() { _ = rows.Close() }()
	ranges := 0
	for rows.Next() {
		var tenant, of string
		var since int64
		var n, there, moments int
		mustDo(t, rows.Scan(&tenant, &of, &since, &n, &there, &moments))
		first := since == math.MinInt64
		if n != there || n == 0 && !first || n > 1250 && moments > 1000 {
			t.Fatalf("%s %q since %d: %d are counted of %d, of %d moments", tenant, of, since, n, there, moments)
		}
		ranges++
	}
	mustDo(t, rows.Err())
	if ranges == 0 {
		t.Fatal("nothing is counted")
	}
}

// runChange puts a run of a tenant, or deletes it.
type runChange struct {
	tenant, id, status string
	created            int64
	gone               bool
}

func anyChange(r *rand.Rand) runChange {
	c := runChange{tenant: "acme", id: fmt.Sprintf("run-%04d", r.IntN(6000)), status: runStatuses[r.IntN(len(runStatuses))], gone: r.IntN(8) == 0}
	if r.IntN(10) == 0 {
		c.tenant = "globex"
	}
	// Some moments have many runs, most have one.
	if c.created = int64(r.IntN(1 << 20)); r.IntN(3) > 0 {
		c.created = int64(r.IntN(4))*100_000 + 1<<20
	}
	return c
}

func (c runChange) apply(tx store.Tx) error {
	if c.gone {
		return tx.Delete(store.Runs, c.tenant, c.id)
	}
	version := int64(0)
	if row, err := tx.Get(store.Runs, c.tenant, c.id); err == nil {
		version, c.created = row.Version, row.Keys[0].(int64)
	}
	return tx.Put(store.Runs, c.tenant, store.Row{ID: c.id, Doc: []byte("{}"), Keys: []any{c.created, c.status, "plan", "", ""}}, version)
}

func compareLists(t *testing.T, random *rand.Rand, s, reference store.Store) {
	t.Helper()
	order := []store.Order{{Column: "created", Descending: true}, {Column: "id", Descending: true}}
	for _, tenant := range []string{"acme", "globex", "nobody"} {
		for _, status := range append([]string{""}, runStatuses...) {
			q := store.Query{Order: order, Limit: 1 + random.IntN(200)}
			if status != "" {
				q.Where = []store.Filter{store.Equal("status", status)}
			}
			total := count(t, reference, tenant, q)
			if n := count(t, s, tenant, q); n != total {
				t.Fatalf("%s %s: %d are counted of %d", tenant, status, n, total)
			}
			for range fewer(4, 2) {
				q.Offset = random.IntN(total + 10)
				if diff := cmp.Diff(idsOf(t, reference, tenant, q), idsOf(t, s, tenant, q)); diff != "" {
					t.Fatalf("%s %s: the page from %d of %d differs:\n%s", tenant, status, q.Offset, total, diff)
				}
			}
		}
	}
}

func count(t *testing.T, s store.Store, tenant string, q store.Query) (n int) {
	t.Helper()
	mustDo(t, s.View(context.Background(), func(tx store.Tx) (err error) {
		n, err = tx.Count(store.Runs, tenant, q)
		return err
	}))
	return n
}

func idsOf(t *testing.T, s store.Store, tenant string, q store.Query) (ids []string) {
	t.Helper()
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Runs, tenant, q)
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		return err
	}))
	return ids
}

// TestRunsOfAnEarlierReleaseAreCounted: a store from before the ranges gets them.
func TestRunsOfAnEarlierReleaseAreCounted(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	random, reference := rand.New(rand.NewPCG(1, 2)), memory.New()
	older := downTo5(t, dir)
	run := func(statement string) {
		_, err := older.Exec(statement)
		mustDo(t, err)
	}
	run("BEGIN")
	for i := range 2500 {
		c := anyChange(random)
		c.id = fmt.Sprintf("run-%04d", i)
		c.gone = false
		_, err := older.Exec("INSERT INTO runs (tenant, id, version, doc, created, status, plan, scope) VALUES (?, ?, 1, '{}', ?, ?, 'plan', '')", c.tenant, c.id, c.created, c.status)
		mustDo(t, err)
		mustDo(t, reference.Update(context.Background(), c.apply))
	}
	run("COMMIT")
	mustDo(t, older.Close())
	compareLists(t, random, mustOpen(t, dir), reference)
}

// TestRunsThatTriggersCountedAreCountedOn: a store of a release that counted by triggers keeps
// its counts, and no trigger counts what this one counts.
func TestRunsThatTriggersCountedAreCountedOn(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	random, reference := rand.New(rand.NewPCG(3, 4)), memory.New()
	drawn := func(n int) (changes []runChange) {
		for range n {
			changes = append(changes, anyChange(random))
		}
		return changes
	}
	inDatabase(t, dir, func(db *sql.DB) {
		made, err := embedded.ReadFile("migrations/00006_histories_and_retiring.sql")
		mustDo(t, err)
		triggers := regexp.MustCompile(`(?ms)^CREATE TRIGGER.*?^END;`).FindAllString(string(made), -1)
		for _, statement := range append(triggers, "DELETE FROM goose_db_version WHERE version_id > 12", "PRAGMA user_version = 3") {
			_, err := db.Exec(statement)
			mustDo(t, err)
		}
		tx, err := db.Begin()
		mustDo(t, err)
		for _, c := range drawn(4000) {
			mustDo(t, reference.Update(context.Background(), c.apply))
			_, err := tx.Exec("DELETE FROM runs WHERE tenant = ? AND id = ?", c.tenant, c.id)
			if row, found := rowOf(t, reference, c); found && err == nil {
				_, err = tx.Exec("INSERT INTO runs VALUES (?, ?, ?, '{}', ?, ?, ?, ?, ?)", append([]any{c.tenant, c.id, row.Version}, row.Keys...)...)
			}
			mustDo(t, err)
		}
		mustDo(t, tx.Commit())
		checkCounts(t, db)
	})
	s, err := open(context.Background(), dir, plain)
	mustDo(t, err)
	for _, c := range drawn(300) {
		mustDo(t, reference.Update(context.Background(), c.apply))
		mustDo(t, s.Update(context.Background(), c.apply))
	}
	compareLists(t, random, s, reference)
	mustClose(t, s)
	inDatabase(t, dir, func(db *sql.DB) {
		checkCounts(t, db)
		left := 0
		mustDo(t, db.QueryRow("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'trigger'").Scan(&left))
		if left > 0 {
			t.Errorf("%d triggers are left", left)
		}
	})
}

func rowOf(t *testing.T, s store.Store, c runChange) (row store.Row, found bool) {
	t.Helper()
	err := s.View(context.Background(), func(tx store.Tx) (err error) {
		row, err = tx.Get(store.Runs, c.tenant, c.id)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return row, err == nil
}

// downTo5 makes of a new store one that knows no ranges: what later migrations made
// goes too.
func downTo5(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := defaults().writerPool(filepath.Join(dir, databaseFile))
	mustDo(t, err)
	for _, statement := range []string{
		"DROP INDEX steps_sent", "ALTER TABLE steps DROP COLUMN sent", "DROP TABLE audit_packs", "DROP TABLE audit_postings",
		"DROP INDEX approvals_digest", "ALTER TABLE approvals DROP COLUMN digest", "DROP INDEX approvals_title", "ALTER TABLE approvals DROP COLUMN title",
		"DROP INDEX runs_agent", "ALTER TABLE runs DROP COLUMN agent",
		"DROP TABLE runs_counted", "DROP TABLE archived", "DROP TABLE rehearsals",
		"DROP INDEX models_retired", "DROP INDEX projects_retired", "DROP INDEX agents_retired", "DROP INDEX agents_project_retired", "DROP INDEX agents_status_retired", "DROP INDEX teams_retired",
		"ALTER TABLE models DROP COLUMN retired", "ALTER TABLE projects DROP COLUMN retired", "ALTER TABLE agents DROP COLUMN retired", "ALTER TABLE teams DROP COLUMN retired",
		"DELETE FROM goose_db_version WHERE version_id > 5",
	} {
		_, err := db.Exec(statement)
		mustDo(t, err)
	}
	return db
}
