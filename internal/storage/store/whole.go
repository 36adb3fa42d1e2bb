package store

// Whole is what the Tx of every engine can do besides, for a copy of a whole store
// and for nothing else: whoever changes documents knows their tenant and lets Put
// count their versions.
type Whole interface {
	Tx
	// Tenants returns the different tenants that have rows in a table, sorted.
	Tenants(t *Table) ([]string, error)
	// Load writes a row with the version that it has, at least 1. There must be none
	// of its id; otherwise ErrConflict, and nothing is written.
	Load(t *Table, tenant string, row Row) error
}
