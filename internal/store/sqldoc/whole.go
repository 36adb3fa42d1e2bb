package sqldoc

import (
	"fmt"

	"github.com/countersign/countersign/internal/store"
)

var _ store.Whole = (*Tx)(nil)

// Tenants implements store.Whole.
func (t *Tx) Tenants(table *store.Table) ([]string, error) {
	values, err := t.texts(tenantsStatement(table))
	if err != nil {
		return nil, fmt.Errorf("tenants of %s: %w", table.Name, err)
	}
	return values, nil
}

// Load implements store.Whole.
func (t *Tx) Load(table *store.Table, tenant string, row store.Row) error {
	if err := table.CheckLoad(row); err != nil {
		return err
	}
	args := append([]any{tenant, row.ID, row.Version, string(row.Doc)}, row.Keys...)
	if !t.keeps(args...) {
		return fmt.Errorf("load %s %q: %w", table.Name, row.ID, errText)
	}
	changed, err := t.exec(&t.conn.on(table).insert, args)
	switch {
	case err != nil:
		return fmt.Errorf("load %s %s: %w", table.Name, row.ID, err)
	case changed == 0:
		return fmt.Errorf("%s %s is there already: %w", table.Name, row.ID, store.ErrConflict)
	}
	return nil
}
