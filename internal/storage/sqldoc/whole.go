package sqldoc

import (
	"fmt"

	"github.com/countersign/countersign/internal/storage/store"
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
	return t.put(place{table, tenant, row.ID}, row, 0, row.Version)
}

// Steps collects a first value and each next one, until there is none: both are queries of one
// text, with the parameters $1, $2 …, and in next the value before is found.value.
func (t *Tx) Steps(first, next string, args ...any) ([]string, error) {
	b := &builder{args: args}
	b.steps(first, next)
	return t.texts(b)
}
