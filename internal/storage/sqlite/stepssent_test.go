package sqlite

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestStepsOfAnEarlierReleaseAreFoundByNoRequest: a store from before the column. They are
// there as they were, and are written on.
func TestStepsOfAnEarlierReleaseAreFoundByNoRequest(t *testing.T) {
	dir := t.TempDir()
	mustClose(t, mustOpen(t, dir))
	older := downTo5(t, dir)
	_, err := older.Exec(`INSERT INTO steps (tenant, id, version, doc, run, idx) VALUES ('acme', 'run-1/000', 3, '{"id":"pay"}', 'run-1', 0)`)
	mustDo(t, err)
	mustDo(t, older.Close())
	s := mustOpen(t, dir)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		row, err := tx.Get(store.Steps, "acme", "run-1/000")
		if err != nil {
			return err
		}
		if row.Version != 3 || row.Keys[0] != "run-1" || row.Keys[2] != "" {
			t.Errorf("the step is %+v", row)
		}
		row.Keys[2] = "digest/1"
		return tx.Put(store.Steps, "acme", row, row.Version)
	}))
	mustClose(t, s)
	mustDo(t, mustOpen(t, dir).View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Steps, "acme", store.Query{Where: []store.Filter{store.Equal("sent", "digest/1")}})
		if len(rows) != 1 || rows[0].ID != "run-1/000" {
			t.Errorf("found by its request: %+v", rows)
		}
		return err
	}))
}
