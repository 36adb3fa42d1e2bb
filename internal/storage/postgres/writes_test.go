package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// rowOf is a row in which each column has another value, and no text is ASCII only.
func rowOf(table *store.Table, id string, round int) store.Row {
	row := store.Row{ID: id, Doc: fmt.Appendf(nil, `{"é":"%s %s %d"}`, table.Name, id, round)}
	for i, c := range table.Columns {
		switch {
		case c.Integer:
			row.Keys = append(row.Keys, int64(1000*round+10*i+len(id)))
		case c.Name == table.Within:
			before, _, _ := strings.Cut(id, "/")
			row.Keys = append(row.Keys, before)
		default:
			row.Keys = append(row.Keys, strings.Repeat("ü", i)+fmt.Sprint(id, round))
		}
	}
	return row
}

// TestABatchWritesEachColumnOfEachRow of each table and of different tenants, as inserts, as
// updates and as deletes; of those that are put twice, the last.
func TestABatchWritesEachColumnOfEachRow(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	ids, tenants := []string{"a/", "bé/", "ccc/"}, []string{"acme", "ümbrella"}
	all := func(do func(table *store.Table, tenant, id string) error) func(store.Tx) error {
		return func(store.Tx) error {
			for _, table := range store.Tables() {
				for _, tenant := range tenants {
					for _, id := range ids {
						if err := do(table, tenant, id); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}
	}
	for round := range 3 {
		calls := 0
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			calls++
			return all(func(table *store.Table, tenant, id string) error {
				return errors.Join(
					tx.Put(table, tenant, rowOf(table, id+tenant, 9), int64(2*round)),
					tx.Put(table, tenant, rowOf(table, id+tenant, round), int64(2*round+1)))
			})(tx)
		}))
		if calls != 1 { // it runs again, and its rows are written one by one, after an error
			t.Errorf("the function ran %d times", calls)
		}
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			return all(func(table *store.Table, tenant, id string) error {
				want := rowOf(table, id+tenant, round)
				want.Version = int64(2*round + 2)
				if got, err := tx.Get(table, tenant, id+tenant); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %v is stored as %v: %v", table.Name, want, got, err)
				}
				return nil
			})(tx)
		}))
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		return all(func(table *store.Table, tenant, id string) error {
			if id == "a" {
				return nil
			}
			return tx.Delete(table, tenant, id+tenant)
		})(tx)
	}))
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		return all(func(table *store.Table, tenant, id string) error {
			if _, err := tx.Get(table, tenant, id+tenant); errors.Is(err, store.ErrNotFound) != (id != "a") {
				t.Errorf("%s of %s in %s, after the others were deleted: %v", id, tenant, table.Name, err)
			}
			return nil
		})(tx)
	}))
}

// TestARowIsDeletedAndPutAnewInOneBatch without having been read, be it there or not.
func TestARowIsDeletedAndPutAnewInOneBatch(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		return tx.Put(store.Models, "acme", rowOf(store.Models, "there", 1), 0)
	}))
	s.writer.cache.Clear()
	calls := 0
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		calls++
		return errors.Join(tx.Delete(store.Models, "acme", "there"), tx.Delete(store.Models, "acme", "new"), tx.Delete(store.Models, "acme", "never"),
			tx.Put(store.Models, "acme", rowOf(store.Models, "there", 7), 0), tx.Put(store.Models, "acme", rowOf(store.Models, "new", 7), 0))
	}))
	if calls != 1 {
		t.Errorf("the function ran %d times", calls)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		for _, id := range []string{"there", "new"} {
			if row, err := tx.Get(store.Models, "acme", id); err != nil || row.Version != 1 || string(row.Doc) != string(rowOf(store.Models, id, 7).Doc) {
				t.Errorf("%s: %v, %v", id, row, err)
			}
		}
		return nil
	}))
}

// TestAWriteThatCannotChangeEachRowChangesNone: rows that another process has changed since,
// inserted or deleted, or the same row twice.
func TestAWriteThatCannotChangeEachRowChangesNone(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	put := func(id string, expected int64) func(store.Tx) error {
		return func(tx store.Tx) error {
			return tx.Put(store.Steps, "acme", store.Row{ID: id, Keys: []any{"run", int64(1), ""}, Doc: []byte("{}")}, expected)
		}
	}
	for _, id := range []string{"a", "b"} {
		mustDo(t, s.Update(context.Background(), put(id, 0)))
	}
	tenants, docs, runs, numbers := []string{"acme", "acme"}, []string{"{1}", "{2}"}, []string{"run", "run"}, []int64{1, 2}
	update := func(ids []string, expected []int64) sqldoc.Write {
		return sqldoc.Write{Table: store.Steps, Kind: sqldoc.Update, Rows: 2, Arrays: []any{tenants, ids, []int64{2, 2}, docs, runs, numbers, []string{"", ""}, expected}}
	}
	insert := func(ids ...string) sqldoc.Write {
		return sqldoc.Write{Table: store.Steps, Kind: sqldoc.Insert, Rows: 2, Arrays: []any{tenants, ids, []int64{1, 1}, docs, runs, numbers, []string{"", ""}}}
	}
	session, err := s.writer.connected(time.Now().Add(generous))
	mustDo(t, err)
	for name, w := range map[string]sqldoc.Write{
		"one is at another version": update([]string{"a", "b"}, []int64{1, 2}),
		"one isn't there":           update([]string{"a", "z"}, []int64{1, 1}),
		"the same one twice":        update([]string{"a", "a"}, []int64{1, 1}),
		"one is there":              insert("c", "a"),
		"a new one twice":           insert("c", "c"),
	} {
		_, err := session.run("BEGIN")
		mustDo(t, err)
		outcome, err := session.commit(nil, []sqldoc.Write{insert("x", "y"), w})
		if outcome != failed || !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v, %v", name, outcome, err)
		}
		_, err = session.run("ROLLBACK")
		mustDo(t, err)
	}
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Steps, "acme", store.Query{})
		if err != nil || len(rows) != 2 || rows[0].Version != 1 || rows[1].Version != 1 {
			t.Errorf("the table has %v: %v", rows, err)
		}
		return nil
	}))
}

// TestOnlyTheUpdateAtFaultFails of those whose writes share a message.
func TestOnlyTheUpdateAtFaultFails(t *testing.T) {
	s := mustOpen(t, pgtest.Database(t))
	guardedPut := func(tx store.Tx, id string, expected int64) error {
		return tx.Put(store.Steps, "acme", rowOf(store.Steps, id, 1), expected)
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return guardedPut(tx, "there", 0) }))
	s.writer.cache.Clear()
	wrong, right := make(chan error, 1), make(chan error, 1)
	joined := false // the function runs again once one of the others has failed
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		for id, answer := range map[string]chan error{"there": wrong, "new": right} {
			if joined {
				break
			}
			arrived := &watched{Context: context.Background(), seen: make(chan struct{})}
			go func() {
				answer <- s.Update(arrived, func(tx store.Tx) error { return guardedPut(tx, id, 0) })
			}()
			<-arrived.seen
		}
		joined = true
		return guardedPut(tx, "first", 0)
	}))
	if err := <-wrong; !errors.Is(err, store.ErrConflict) {
		t.Errorf("the insert over a row that is there: %v", err)
	}
	mustDo(t, <-right)
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		n, err := tx.Count(store.Steps, "acme", store.Query{})
		if row, err := tx.Get(store.Steps, "acme", "there"); err != nil || row.Version != 1 {
			t.Errorf("the row that was there: %v, %v", row, err)
		}
		if n != 3 {
			t.Errorf("%d rows are there", n)
		}
		return err
	}))
}

// TestOutcomeOfACommitIsProven: that a transaction isn't committed is taken only from a
// server that says it of the session, not from an error in place of an answer.
func TestOutcomeOfACommitIsProven(t *testing.T) {
	refusal := func(severity, code string) error { return &pgconn.PgError{SeverityUnlocalized: severity, Code: code} }
	for _, c := range []struct {
		name   string
		tag    string
		err    error
		status byte
		lost   bool
		want   outcome
	}{
		{"committed", "COMMIT", nil, 'I', false, committed},
		{"rolled back instead", "ROLLBACK", nil, 'I', false, undone},
		{"a write failed", "", refusal("ERROR", "22012"), 'E', false, failed},
		{"a write collided", "INSERT 0 1", refusal("ERROR", "40001"), 'E', false, failed},
		{"the COMMIT collided", "INSERT 0 1", refusal("ERROR", "40001"), 'I', false, undone},
		{"the COMMIT was refused", "INSERT 0 1", refusal("ERROR", "P0001"), 'I', false, unknown},
		{"a pooler lost its server", "", refusal("FATAL", "08P01"), 'T', true, unknown},
		{"the connection broke after a write failed", "", refusal("FATAL", "57P01"), 'E', true, unknown},
		{"a write failed, then the connection broke", "", errLost, 'T', true, unknown},
		{"another answer", "INSERT 0 1", nil, 'T', false, unknown},
	} {
		if got := outcomeOf(c.tag, c.err, c.status, c.lost); got != c.want {
			t.Errorf("%s: outcome %d, want %d", c.name, got, c.want)
		}
	}
}
