// Package batches runs the functions of several Updates in one transaction on documents over SQL. It defers their writes,
// remembers rows and counts from one batch to the next, and runs functions ahead of their turn.
package batches

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// Batch runs the functions of several Updates in one transaction. It defers their writes:
// later functions see them here, and a function that fails is undone before the database
// gets its writes. Flush writes every changed row once. Rows that were read are kept too,
// and passed to the next batch in a Cache.
//
// Some functions can't be deferred (ErrNeedsSavepoint). They run in a savepoint and write
// at once: a function that lists a table it has written to, since the list must show its
// writes; and all functions of a batch in which a statement failed, or in which a row of a
// guarded table wasn't at the version that Put assumed.
type Batch struct {
	conn         *sqldoc.Conn
	host         Host
	cache        *Cache
	inSavepoints bool
	known        map[place]entry
	order        []place // rows with deferred writes, in the order of their first write
	tallies      map[string]tally
	changed      map[Sum]bool // see Changed
	putsOff      bool         // see PutOff
	unproven     bool         // a row that was guessed to be new was deleted: no write will find out
	wanted       wanted
}

// Host is the engine's side of a batch's transaction.
type Host interface {
	// Exec runs a statement without parameters.
	Exec(text string) error
	// Broken returns the error that ends the transaction after a statement failed with
	// err; nil if rolling back to a savepoint is enough.
	Broken(err error) error
}

// ErrNeedsSavepoint says that the batch must be rolled back and run again with its
// functions in savepoints. It is no failure.
var ErrNeedsSavepoint = errors.New("batches: the functions of the batch must run in savepoints")

// place identifies a row.
type place struct {
	table      *store.Table
	tenant, id string
}

// entry is a cached row.
type entry struct {
	version int64 // as Get returns it; 0: there is no such row
	doc     string
	keys    []any
	stored  int64 // the version in the database; 0: no such row, sqldoc.Unread: unknown
	columns []any // the keys in the database; nil: unknown
	dirty   bool  // its write is deferred
	assumed bool  // that there is no such row is taken for granted, and may be wrong
	guessed bool  // it was written so
	asked   bool  // it was read in this batch
	idle    int   // batches since it was last read
}

// New begins a batch in a new transaction. apart: its functions run in savepoints.
func New(conn *sqldoc.Conn, h Host, cache *Cache, apart bool) *Batch {
	return &Batch{conn: conn, host: h, cache: cache, inSavepoints: apart, known: map[place]entry{}, tallies: cache.copied(), changed: map[Sum]bool{}}
}

// Changed stands for the rows that were written, also by functions that failed, and for the
// tables whose lists and counts may have changed by that.
func (b *Batch) Changed() []Sum { return slices.Collect(maps.Keys(b.changed)) }

// Committed passes the rows and tallies to the cache, after the commit. A row that was written
// without having been read is read next, as a run is that was started, unless its table is
// guarded: it is the guard that is read again and again.
func (b *Batch) Committed() {
	b.keepTallies()
	for p, e := range b.known {
		if e.asked || !p.table.Guarded && e.stored != sqldoc.Unread {
			b.cache.put(p, e)
		} else {
			b.cache.drop(p.sum())
		}
	}
}

// peek returns a row from the batch or the cache.
func (b *Batch) peek(p place) (entry, bool) {
	e, ok := b.known[p]
	if !ok {
		e, ok = b.cache.get(p)
	}
	return e, ok
}

// read returns a row, from the database if it isn't cached.
func (b *Batch) read(t *Tx, p place) (entry, error) {
	e, ok := b.peek(p)
	if !ok && t.offline {
		return e, t.notCached()
	}
	if !ok && t.direct.Keeps(p.tenant, p.id) && t.wants([]cached{{place: p}}, nil) {
		return e, ErrPutOff
	}
	if !ok {
		row, err := t.direct.Get(p.table, p.tenant, p.id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return e, err
		}
		e = entry{version: row.Version, stored: row.Version, doc: string(row.Doc), keys: row.Keys, columns: row.Keys}
	}
	e.asked, e.idle = true, 0
	b.known[p] = e
	t.saw(p, e, true)
	return e, nil
}

// put changes a row from the expected version (0: none) to another one.
func (b *Batch) put(t *Tx, p place, row store.Row, expected, version int64) error {
	was, ok, err := b.before(t, p, row.New && expected == 0, row.Seen && expected > 0)
	if err != nil {
		return err
	}
	t.saw(p, was, ok)
	if expected < 0 || ok && was.version != expected {
		return sqldoc.Conflict(p.table, p.id, expected)
	}
	e := was
	if !ok {
		e.stored = expected // assumed; Flush finds out
	}
	e.version, e.doc, e.keys, e.dirty, e.assumed = version, string(row.Doc), slices.Clone(row.Keys), true, false
	e.guessed = was.guessed || was.assumed
	return b.change(t, p, was, ok, e)
}

// before returns a row before it is written; ok is false for one of a guarded table that isn't known,
// and for one that was seen. That a new row isn't there may be assumed; Flush finds out.
func (b *Batch) before(t *Tx, p place, isNew, seen bool) (e entry, ok bool, err error) {
	if e, ok = b.peek(p); ok || p.table.Guarded || seen {
		return e, ok, nil
	}
	if isNew && !t.inSavepoint {
		return entry{assumed: true}, true, nil
	}
	e, err = b.read(t, p)
	return e, err == nil, err
}

// remove deletes a row.
func (b *Batch) remove(t *Tx, p place) error {
	was, ok := b.peek(p)
	t.saw(p, was, ok)
	b.unproven = b.unproven || was.guessed
	e := entry{stored: was.stored, columns: was.columns, asked: was.asked}
	if !ok {
		e.stored = sqldoc.Unread
	}
	e.dirty = e.stored != 0
	return b.change(t, p, was, ok, e)
}

// change sets an entry, and writes it at once if the function runs in a savepoint.
func (b *Batch) change(t *Tx, p place, was entry, known bool, is entry) error {
	if t.inSavepoint && is.dirty {
		if err := b.write(t, p, &is); err != nil {
			return err
		}
	} else if is.dirty && !was.dirty {
		b.order = append(b.order, p)
	}
	b.count(p, was, known, is)
	b.changed[p.sum()] = true
	if !known || was.version == 0 || is.version == 0 || !slices.Equal(was.keys, is.keys) {
		b.changed[listed(p.table)] = true
	}
	t.undo = append(t.undo, undo{p, was, known})
	b.known[p] = is
	return nil
}

// undo is an entry before a function changed it.
type undo struct {
	place
	was   entry
	known bool
}

// undo restores the entries that a function changed. Places that it added to order are
// then clean, and are skipped. What was only assumed was never found out: it isn't known.
func (b *Batch) undo(t *Tx) {
	for _, u := range slices.Backward(t.undo) {
		b.count(u.place, b.known[u.place], u.known, u.was)
		if u.known && !u.was.assumed {
			b.known[u.place] = u.was
		} else {
			delete(b.known, u.place)
		}
	}
}

// Flush writes the deferred writes. ErrNeedsSavepoint: a row isn't at the version that Put
// assumed, or a statement failed, and only the function that it belongs to should fail.
func (b *Batch) Flush() error { return b.flush(func(*store.Table) bool { return true }) }

func (b *Batch) flush(of func(*store.Table) bool) error {
	if b.unproven {
		return ErrNeedsSavepoint
	}
	due := b.due(of)
	t := b.conn.Begin(false)
	if len(due) == 0 {
		return nil
	}
	if err := b.writeTogether(t, due, b.conn.Together); err != nil {
		return b.cause(t.Err(), err)
	}
	return nil
}

// due takes the places whose deferred writes are to be made out of the order.
func (b *Batch) due(of func(*store.Table) bool) (due []place) {
	kept, seen := b.order[:0], map[place]bool{} // a place that a failed function wrote first is listed twice
	for _, p := range b.order {
		switch {
		case !of(p.table):
			kept = append(kept, p)
		case b.known[p].dirty && !seen[p]:
			due, seen[p] = append(due, p), true
		}
	}
	b.order = kept
	return due
}

// cause returns the error that ends the batch after a statement that failed, or another error.
func (b *Batch) cause(failed, err error) error {
	if failed != nil {
		if broken := b.host.Broken(failed); broken != nil {
			return broken
		}
	}
	return fmt.Errorf("%w: %w", ErrNeedsSavepoint, err)
}

// write writes a row to the database.
func (b *Batch) write(t *Tx, p place, e *entry) error {
	if err := t.direct.Store(p.table, p.tenant, p.id, &sqldoc.Change{Version: e.version, Doc: e.doc, Keys: e.keys, Stored: e.stored, Columns: e.columns}); err != nil {
		return err
	}
	*e = e.written()
	return nil
}

// written returns the entry as the database has it after its write.
func (e entry) written() entry {
	e.stored, e.columns, e.dirty, e.guessed = e.version, e.keys, false, false
	return e
}
