package sqldoc

import "github.com/countersign/countersign/internal/storage/store"

// The statements, for tests that ask an engine how it would run them.

// ListText is the statement of List and its parameters.
func ListText(t *store.Table, q store.Query) (string, []any) {
	b := listStatement(t, "acme", q)
	return b.String(), b.args
}

// DistinctText is the statement of Distinct and its parameters.
func DistinctText(t *store.Table, column string) (string, []any) {
	b := distinctStatement(t, "acme", column)
	return b.String(), b.args
}

// Cached is how many statements are kept.
func (c *Conn) Cached() int { return len(c.cached) }
