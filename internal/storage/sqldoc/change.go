package sqldoc

import (
	"fmt"

	"github.com/countersign/countersign/internal/storage/store"
)

// place identifies a row.
type place struct {
	table      *store.Table
	tenant, id string
}

// Change brings a row of the database from one version to another.
type Change struct {
	Version int64 // 0: there is no such row any more
	Doc     string
	Keys    []any
	Stored  int64 // the version that the database has; 0: no such row, Unread: unknown
	Columns []any // the keys that the database has; nil: unknown
}

// Unread says of a row that nobody knows which version the database has, if any.
const Unread = -1

// Store makes a change. ErrConflict: the row wasn't at its stored version.
func (t *Tx) Store(table *store.Table, tenant, id string, c *Change) error {
	return t.store(place{table, tenant, id}, c)
}

// store makes a change.
func (t *Tx) store(p place, c *Change) error {
	changed, err := t.write(p, c)
	switch {
	case err != nil:
		return fmt.Errorf("write %s %s: %w", p.table.Name, p.id, err)
	case changed == 0:
		return Conflict(p.table, p.id, c.Stored)
	}
	return nil
}

// Conflict says that a row is not at the expected version.
func Conflict(table *store.Table, id string, expected int64) error {
	return fmt.Errorf("%s %s is not at version %d: %w", table.Name, id, expected, store.ErrConflict)
}

// Missing says that there is no such row.
func Missing(table *store.Table, id string) error {
	return fmt.Errorf("%s %q: %w", table.Name, id, store.ErrNotFound)
}

// Get asks for a row; Answer reads what comes.
func Get(table *store.Table, tenant, id string) Call { return place{table, tenant, id}.get() }

// Answer reads a row as Get selects it. version is 0 for no row.
func Answer(row []any) (version int64, doc string, keys []any, err error) {
	if row == nil {
		return 0, "", nil, nil
	}
	version, isNumber := row[1].(int64)
	doc, isText := row[2].(string)
	if !isNumber || !isText {
		return 0, "", nil, fmt.Errorf("its version and document are %T and %T", row[1], row[2])
	}
	if keys = row[3:]; len(keys) == 0 {
		keys = nil
	}
	return version, doc, keys, nil
}
