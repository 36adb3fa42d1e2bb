// Package sqldoc keeps documents in SQL: one set of statements for every SQL
// engine. An engine opens, locks, migrates and decides when to begin and commit;
// what happens inside a transaction is here.
//
// A document is a row (tenant, id, version, doc, the table's own columns) with
// the primary key (tenant, id). Text columns must compare by bytes. Names come
// from store.Table values alone and every value is a parameter.
package sqldoc

// Dialect is what differs between engines.
type Dialect struct {
	// Rewrite turns a statement with parameters $1, $2 … into the engine's form.
	Rewrite func(statement string) string
	// Error gives an error of the driver its meaning in package store; what has
	// none there comes back as it is.
	Error func(error) error
}
