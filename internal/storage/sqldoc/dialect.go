// Package sqldoc keeps documents in SQL: one set of statements for every SQL
// engine. An engine opens, locks, migrates and decides when to begin and commit;
// what happens inside a transaction is here.
//
// A document is a row (tenant, id, version, doc, the table's own columns) with
// the primary key (tenant, id). Text columns must compare by bytes. Names come
// from store.Table values alone and every value is a parameter.
package sqldoc

import (
	"database/sql"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Dialect is what differs between engines.
type Dialect struct {
	// Rewrite turns a statement with parameters $1, $2 … into the engine's form.
	Rewrite func(statement string) string
	// Prepares says that the driver prepares and keeps statements itself: Conn then passes
	// it plain texts.
	Prepares bool
	// Rewrites says that naming unchanged columns in an UPDATE costs nothing, so that one
	// statement serves both cases (see tableStatements.touch).
	Rewrites bool
	// Arrays says that a parameter may be an array of texts. Ids that are listed by are one then
	// (see builder.each).
	Arrays bool
	// Keeps reports whether the engine can store a text; nil: it stores any. A text that it
	// can't store can't be found either.
	Keeps func(text string) bool
	// Together makes Writes in one message and in this order. ErrConflict: one of them could
	// not change each of its rows, and the transaction must be rolled back, or to a savepoint.
	// Only an engine with a Batch needs it.
	Together func(conn *sql.Conn, writes []Write) error
	// Ask sends queries of at most one row in one message and returns their rows, nil for
	// none. Only an engine whose database other processes write to needs it.
	Ask func(conn *sql.Conn, calls []Call) (rows [][]any, err error)
	// Counted are the tables whose rows are counted as they are written.
	Counted map[*store.Table]*Counted
	// Error turns an error of the driver into one of package store; others are returned
	// unchanged.
	Error func(error) error
}

// Call is a statement with its parameters.
type Call struct {
	Text string
	Args []any
}

// keeps reports whether the engine can store all these values.
func (d Dialect) keeps(values ...any) bool {
	for _, v := range values {
		if text, ok := v.(string); ok && d.Keeps != nil && !d.Keeps(text) {
			return false
		}
	}
	return true
}

// within drops filter values that no row can have. A value that is only a bound is left
// for the engine to refuse.
func (d Dialect) within(q store.Query) store.Query {
	q.Where = slices.Clone(q.Where)
	for i, f := range q.Where {
		if f.Op == store.In && !d.keeps(f.Values...) {
			q.Where[i].Values = slices.DeleteFunc(slices.Clone(f.Values), func(v any) bool { return !d.keeps(v) })
		}
		if d.Arrays && f.Column == "id" && f.Op == store.In && len(q.Where[i].Values) > 1 && !slices.ContainsFunc(q.Where[:i], isIDs) {
			q.Where[i].Values = []any{idsOf(q.Where[i].Values)}
		}
	}
	return q
}
