package memory

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

var _ store.Whole = (*tx)(nil)

// Tenants implements store.Whole.
func (t *tx) Tenants(table *store.Table) ([]string, error) {
	if t.over {
		return nil, store.ErrOver
	}
	var tenants []string
	for p, rows := range t.state {
		if p.table == table.Name && len(rows) > 0 {
			tenants = append(tenants, p.tenant)
		}
	}
	slices.Sort(tenants)
	return tenants, nil
}

// Load implements store.Whole.
func (t *tx) Load(table *store.Table, tenant string, row store.Row) error {
	if err := table.CheckLoad(row); err != nil {
		return err
	}
	rows, err := t.writable(place{table.Name, tenant})
	if err != nil {
		return err
	}
	if _, ok := rows[row.ID]; ok {
		return fmt.Errorf("%s %s is there already: %w", table.Name, row.ID, store.ErrConflict)
	}
	rows[row.ID] = clone(row)
	return nil
}
