// Package store keeps JSON documents in named tables, one tenant apart from the
// other. It knows transactions, versions and listing; it knows nothing of runs
// or permissions. The engines behind it are sqlite (one process), postgres
// (several) and memory (a reference for tests).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors that every engine returns, possibly wrapped.
var (
	// ErrNotFound: no such document in this tenant.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict: the stored version is not the expected one.
	ErrConflict = errors.New("store: version conflict")
	// ErrDamaged: the document is there and can't be read as what it should be.
	ErrDamaged = errors.New("store: damaged document")
	// ErrUnavailable: nothing was changed, because the store can't write now
	// (disk full, closing) or ever again (a failed sync).
	ErrUnavailable = errors.New("store: unavailable")
	// ErrFull is an ErrUnavailable that ends by itself when the disk has space again.
	ErrFull = fmt.Errorf("%w: the disk is full", ErrUnavailable)
	// ErrClosed is an ErrUnavailable of a store that was closed.
	ErrClosed = fmt.Errorf("%w: the store is closed", ErrUnavailable)
	// ErrInDoubt: the store failed while it committed, and it is not known whether it did; the
	// store knows at its next start. It is no ErrUnavailable: whoever asks again may change
	// something twice.
	ErrInDoubt = errors.New("store: it is not known whether this was written; the store knows it at the next start")
	// ErrOver: a Tx was used after its function had returned.
	ErrOver = errors.New("store: the transaction is over")
	// ErrReadOnly: the Tx of a View was asked to write.
	ErrReadOnly = errors.New("store: this transaction can only read")
)

// Realm is the tenant argument for records that belong to the installation and
// to no tenant.
const Realm = ""

// Store runs functions in transactions.
//
// View gives fn one consistent snapshot; writing in it is an error. Update gives
// fn the newest state, alone: when Update returns nil, all that fn wrote is
// durable, and when it returns an error nothing is, but for ErrInDoubt. fn's own error
// comes back unchanged (errors.Is). An engine may call fn more than once, so fn must set
// what it hands out afresh and have no effect but through its Tx. ctx bounds the
// wait for a turn; once fn runs, it runs to its end.
type Store interface {
	View(ctx context.Context, fn func(Tx) error) error
	Update(ctx context.Context, fn func(Tx) error) error
	// Failed is closed when the store can never be trusted to write again (a
	// failed sync). The process must end: the disk is the truth at its restart.
	Failed() <-chan struct{}
	// Full reports that writes have to wait for space, or for the right to write.
	Full() bool
	Close() error
}

// Changing is a store that nobody else writes to, and that therefore knows whether a
// table has changed without asking anybody.
type Changing interface {
	// Changes counts the commits that wrote to a table of these. It has risen before
	// the Update that wrote returns.
	Changes(tables ...*Table) int64
}

// Leveled is a store that can close itself to earlier releases.
type Leveled interface {
	// Raised reports that it is closed to releases that don't know the third edition: it was
	// when it was opened, or Raise did it since.
	Raised() bool
	// Raise closes it. What is committed afterwards no earlier release reads or writes; one that
	// runs ends with its next change. It may be called again.
	Raise(ctx context.Context) error
}

// Urgent marks the context of an Update that can't wait until a full disk has
// space again: the outcome of a call that was made. An engine that can holds
// space back for these.
func Urgent(ctx context.Context) context.Context { return context.WithValue(ctx, urgent{}, true) }

// IsUrgent reports a context that Urgent marked.
func IsUrgent(ctx context.Context) bool { return ctx.Value(urgent{}) != nil }

type urgent struct{}

// Tx reads and writes rows. It is valid inside the function it was given to and
// must not be shared between goroutines. Rows returned are the caller's.
type Tx interface {
	// Get returns one row, ErrNotFound when the tenant has none of that id.
	Get(t *Table, tenant, id string) (Row, error)
	// Put writes a row if its stored version is expected; 0 means that there
	// must be none. Otherwise ErrConflict, and nothing is written. The new
	// version is expected+1, whatever row.Version says.
	Put(t *Table, tenant string, row Row, expected int64) error
	// Delete removes a row; removing none is not an error.
	Delete(t *Table, tenant, id string) error
	// List returns the rows that match, ordered by q.Order and then by id in the
	// direction of the last order, at most q.Limit after skipping q.Offset.
	List(t *Table, tenant string, q Query) ([]Row, error)
	// Count returns how many rows match q.Where.
	Count(t *Table, tenant string, q Query) (int, error)
	// Distinct returns the different values of a text column within the tenant,
	// sorted.
	Distinct(t *Table, tenant, column string) ([]string, error)
}

// Looker is a Tx that can show a row without a copy.
type Looker interface {
	// Look is Get for a row that nobody will change.
	Look(t *Table, tenant, id string) (Row, error)
}

// Look is Get for callers who don't change the row: an engine that has it in memory needs
// no copy of it.
func Look(tx Tx, t *Table, tenant, id string) (Row, error) {
	if l, ok := tx.(Looker); ok {
		return l.Look(t, tenant, id)
	}
	return tx.Get(t, tenant, id)
}

// Turner is a Tx whose function may run before the engine has its turn to write, on rows that
// others may still change. The engine compares what the function has seen once it has the turn.
type Turner interface {
	// AtTurn keeps fn until then; false if the function is in its turn, where it calls fn itself.
	AtTurn(fn func(tx Tx, waited time.Duration) error) bool
}

// AtTurn has fn called as a part of the function, at once or when the engine has its turn to
// write: for what all writers change, such as a log's head. waited is how long ago the function
// has begun then, 0 if fn is called at once. The function must not read what fn writes. If fn
// fails later, the function runs again.
func AtTurn(tx Tx, fn func(tx Tx, waited time.Duration) error) error {
	if t, ok := tx.(Turner); ok && t.AtTurn(fn) {
		return nil
	}
	return fn(tx, 0)
}

// Table names a kind of document and the columns that it is listed by. Every
// table has tenant, id, version and doc besides; its primary key is (tenant, id).
type Table struct {
	Name    string
	Columns []Column
	// Guarded says that the version of a parent row protects the rows of this table:
	// the function that writes a row has checked the parent in the same transaction.
	// Put may skip reading the row; a version that doesn't match then fails the
	// function, or runs it again, after Put has returned.
	Guarded bool
	// Within names a text column, if each row's id begins with its value and a slash. So rows
	// that are asked for by it are found by a range of ids, where that is the faster way.
	Within string
	// Log says that rows are added behind the others and hardly ever read one by one, so that
	// it isn't worth keeping them in memory.
	Log bool
}

// Column is a value kept beside the document so that it can be listed by it.
type Column struct {
	Name    string
	Integer bool // int64; otherwise text
	// Sparse says that most rows have "", and that these are in no index: a filter by the
	// column lets none of them through.
	Sparse bool
}

// Row is a document with its version and column values. Keys has one value per
// column of the table, in order: string, or int64 for an integer column.
type Row struct {
	ID      string
	Version int64
	Keys    []any
	Doc     []byte
	// New says that hardly anybody else can have made the row: its id was drawn at random, a row
	// that the function checks guards it, or there was none a moment ago. Put may take for granted
	// that there is none: if there is one after all, the function fails, or runs again, after Put
	// has returned.
	New bool
	// Seen says that the caller has read the row at the expected version, before the function began:
	// hardly anybody has changed it since. Put may take that for granted, and not read the row; a
	// version that doesn't match then fails the function, or runs it again, after Put has returned.
	Seen bool
	// Given says that the caller gives Doc and Keys to the store with Put: nobody changes them
	// any more, so the store may keep them instead of a copy.
	Given bool
	// Edition is that of the vocabulary which the document needs, 0 for the first two: a store
	// closes itself to releases that don't know it (package leveled). It isn't kept.
	Edition int
}

// Query says which rows, in which order. The zero Query is every row by id.
type Query struct {
	Where  []Filter
	Order  []Order
	Limit  int // 0: no limit
	Offset int
	// Bare says that the caller goes by ids, versions and columns: rows may come without documents.
	Bare bool
}

// Op compares a column with the values of a Filter.
type Op int

// The operators. In holds for any of the values; with no value it holds never.
const (
	In Op = iota
	AtLeast
	AtMost
)

// Filter keeps the rows whose column stands in this relation to the values.
// Column may be "id".
type Filter struct {
	Column string
	Op     Op
	Values []any
}

// Order sorts by a column ("id" included).
type Order struct {
	Column     string
	Descending bool
}

// Equal keeps the rows whose column is v.
func Equal(column string, v any) Filter { return Filter{Column: column, Op: In, Values: []any{v}} }
