package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestStepsOfAnEarlierReleaseAreFoundByNoRequest: a database from before the column, in which
// a replica of that release still writes when this one has begun.
func TestStepsOfAnEarlierReleaseAreFoundByNoRequest(t *testing.T) {
	url := pgtest.Database(t)
	mustClose(t, mustOpen(t, url))
	const insert = `INSERT INTO steps (tenant, id, version, doc, run, idx) VALUES ('acme', 'ID', 1, '{"id":"pay"}', 'run-1', 0)`
	pgtest.Exec(t, url, `DROP INDEX steps_sent; ALTER TABLE steps DROP COLUMN sent; DELETE FROM goose_db_version WHERE version_id > 13; `+strings.Replace(insert, "ID", "run-1/000", 1))
	s := mustOpen(t, url)
	pgtest.Exec(t, url, strings.Replace(insert, "ID", "run-1/001", 1))
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		for _, id := range []string{"run-1/000", "run-1/001"} {
			row, err := tx.Get(store.Steps, "acme", id)
			if err != nil {
				return err
			}
			if row.Keys[2] != "" {
				t.Errorf("the step is %+v", row)
			}
		}
		return tx.Put(store.Steps, "acme", store.Row{ID: "run-1/000", Keys: []any{"run-1", int64(0), "digest/1"}, Doc: []byte("{}")}, 1)
	}))
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Steps, "acme", store.Query{Where: []store.Filter{store.Equal("sent", "digest/1")}})
		if len(rows) != 1 || rows[0].ID != "run-1/000" {
			t.Errorf("found by its request: %+v", rows)
		}
		return err
	}))
}
