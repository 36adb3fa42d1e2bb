package memory

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// tx works on its own copy of the state. It shares the rows of a place with the committed state
// until its first write to the place.
type tx struct {
	state    state
	fresh    map[place]bool // places copied by this transaction
	readOnly bool
	over     bool
}

func (t *tx) end() { t.over = true }

// Get implements store.Tx.
func (t *tx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	if t.over {
		return store.Row{}, store.ErrOver
	}
	row, ok := t.state[place{table.Name, tenant}][id]
	if !ok {
		return store.Row{}, fmt.Errorf("%s %s: %w", table.Name, id, store.ErrNotFound)
	}
	return clone(row), nil
}

// Put implements store.Tx.
func (t *tx) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if err := table.CheckRow(row); err != nil {
		return err
	}
	rows, err := t.writable(place{table.Name, tenant})
	if err != nil {
		return err
	}
	if stored, ok := rows[row.ID]; ok != (expected != 0) || stored.Version != expected {
		return fmt.Errorf("%s %s is not at version %d: %w", table.Name, row.ID, expected, store.ErrConflict)
	}
	row = clone(row)
	row.New, row.Seen = false, false
	row.Version = expected + 1
	rows[row.ID] = row
	return nil
}

// Delete implements store.Tx.
func (t *tx) Delete(table *store.Table, tenant, id string) error {
	rows, err := t.writable(place{table.Name, tenant})
	if err != nil {
		return err
	}
	delete(rows, id)
	return nil
}

// List implements store.Tx.
func (t *tx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil {
		return nil, err
	}
	rows, err := t.matching(table, tenant, q.Where)
	if err != nil {
		return nil, err
	}
	sort(table, rows, q.Order)
	rows = rows[min(q.Offset, len(rows)):]
	if q.Limit > 0 {
		rows = rows[:min(q.Limit, len(rows))]
	}
	for i := range rows {
		rows[i] = clone(rows[i])
	}
	return rows, nil
}

// Count implements store.Tx.
func (t *tx) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := table.CheckQuery(q); err != nil {
		return 0, err
	}
	rows, err := t.matching(table, tenant, q.Where)
	return len(rows), err
}

// Distinct implements store.Tx.
func (t *tx) Distinct(table *store.Table, tenant, name string) ([]string, error) {
	if err := table.CheckDistinct(name); err != nil {
		return nil, err
	}
	rows, err := t.matching(table, tenant, nil)
	if err != nil {
		return nil, err
	}
	c := columnOf(table, name)
	values := map[string]bool{}
	for _, row := range rows {
		values[c.of(row).(string)] = true
	}
	return slices.Sorted(maps.Keys(values)), nil
}

// writable returns the rows of a place, copied before the first write.
func (t *tx) writable(p place) (map[string]store.Row, error) {
	switch {
	case t.over:
		return nil, store.ErrOver
	case t.readOnly:
		return nil, store.ErrReadOnly
	case t.state[p] == nil:
		t.state[p] = map[string]store.Row{}
	case !t.fresh[p]:
		t.state[p] = maps.Clone(t.state[p])
	}
	t.fresh[p] = true
	return t.state[p], nil
}

func clone(row store.Row) store.Row {
	row.Keys = slices.Clone(row.Keys)
	row.Doc = bytes.Clone(row.Doc)
	return row
}
