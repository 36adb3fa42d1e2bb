package postgres

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestRowsThatWereSeenAreWrittenInOneMessage: a function that knows their versions asks for none of
// them while all other writers wait.
func TestRowsThatWereSeenAreWrittenInOneMessage(t *testing.T) {
	p, s, other := behindProxy(t)
	const many = 100
	change := func(s *Store, version int64) {
		t.Helper()
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			for i := range many {
				if err := tx.Put(store.Tenants, store.Realm, store.Row{ID: fmt.Sprint("t", i), Doc: []byte("{}"), Seen: true}, version); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	change(other, 0)
	change(s, 1)
	change(other, 2)
	mustWrite(t, s, "c", "what others have changed is read again here")
	mustWrite(t, s, "d", "and no longer here")
	change(other, 3)
	if n := roundTrips(p.listen(func() { change(s, 4) })); n > 4 {
		t.Errorf("%d round trips for %d rows", n, many)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Tenants, store.Realm, store.Query{})
		changed := 0
		for _, row := range rows {
			if row.Version == 5 {
				changed++
			}
		}
		if changed != many {
			t.Errorf("%d of %d rows are changed", changed, many)
		}
		return err
	}))
}

// TestHundredsOfIDsAreFoundByThePrimaryKey, each by itself, while the planner knows nothing of a table
// and once it knows that it is large: it would else walk all of a tenant's rows, and compare each with
// each id.
func TestHundredsOfIDsAreFoundByThePrimaryKey(t *testing.T) {
	url := pgtest.Database(t)
	var ids []any
	for i := range 300 {
		ids = append(ids, fmt.Sprint("id", i, "-", i%10))
	}
	found := func(table *store.Table, want int) {
		t.Helper()
		s := mustOpen(t, url)
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			q := store.Query{Where: []store.Filter{{Column: "id", Values: append(ids, ids[0])}}}
			rows, err := tx.List(table, "acme", q)
			if n, counted := tx.Count(table, "acme", q); err == nil && (len(rows) != want || n != want || counted != nil) {
				err = fmt.Errorf("%d rows are found, %d counted: %w", len(rows), n, counted)
			}
			if plan := planOfIDs(t, s.writer.session, table); !strings.Contains(plan, "Index Scan using "+table.Name+"_pkey") || !strings.Contains(plan, "Index Cond: ((tenant = $2) AND (id = given.wanted))") {
				t.Errorf("%s", plan)
			}
			return err
		}))
	}
	for _, table := range []*store.Table{store.Agents, store.AgentRevisions} {
		found(table, 0)
		columns, values := "", ""
		for _, c := range table.Columns {
			if columns += ", " + c.Name; c.Integer {
				values += ", 0"
			} else {
				values += ", ''"
			}
		}
		pgtest.Exec(t, url, "INSERT INTO "+table.Name+" (tenant, id, version, doc"+columns+") SELECT 'acme', 'id' || i || '-' || i % 10, 1, '{}'"+values+" FROM generate_series(1, 5000) i; ANALYZE "+table.Name)
		found(table, len(ids)-1)
	}
}

// planOfIDs is the plan of the list by ids that a session has prepared.
func planOfIDs(t *testing.T, s *session, table *store.Table) string {
	t.Helper()
	row, err := s.run("SELECT name, statement FROM pg_prepared_statements WHERE statement LIKE '%doc%FROM " + table.Name + " WHERE tenant = $% AND id %'")
	if err != nil || len(row) != 2 {
		t.Fatalf("the list is not prepared: %q, %v", row, err)
	}
	plan := row[1] + "\n"
	answers := s.wire.Exec(context.Background(), "EXPLAIN EXECUTE "+row[0]+" (array_fill('a'::text, ARRAY[300]), 'acme')")
	for answers.NextResult() {
		for reader := answers.ResultReader(); reader.NextRow(); {
			plan += string(reader.Values()[0]) + "\n"
		}
	}
	mustDo(t, answers.Close())
	return plan
}
