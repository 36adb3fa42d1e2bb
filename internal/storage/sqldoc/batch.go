package sqldoc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Batch is the work of several Updates in one transaction of a writer. What a
// function writes is put off: it is kept here, where the functions after it find
// it, and a function that fails is undone without the database having heard of it.
// Flush writes it all, each row once, however often it was written. What was read
// is kept too, and handed on to the next batch in a Cache.
//
// Where that can't be, a function, or all of them, runs apart (ErrApart): behind a
// savepoint, each write at once. So does one that lists a table that it has written
// to, for it must see that; so do all when a statement fails, and when a row of a
// guarded table isn't at the version that was believed of it.
type Batch struct {
	conn         *Conn
	host         Host
	cache        *Cache
	inSavepoints bool
	known        map[place]entry
	order        []place // of what was put off, in the order of the first write

	changed map[*store.Table]bool
}

// Host is the transaction of a batch, as its engine drives it.
type Host interface {
	// Exec runs a statement without parameters.
	Exec(text string) error
	// Broken gives the error that a transaction ends with because one of its
	// statements ended with err; nil if it can go on after a savepoint.
	Broken(err error) error
}

// ErrNeedsSavepoint says that nothing is amiss but that the batch must be undone and run
// again, with apart set.
var ErrNeedsSavepoint = errors.New("sqldoc: the functions of the batch must run apart")

// place is where a row is.
type place struct {
	table      *store.Table
	tenant, id string
}

// entry is what is known of a row.
type entry struct {
	version int64 // as Get gives it; 0: there is no such row
	doc     string
	keys    []any
	stored  int64 // the version in the database; 0: no such row, unread: not known
	columns []any // the keys in the database; nil: not known
	dirty   bool  // the database doesn't have it yet
	asked   bool  // it was read, and may be again
	idle    int   // batches since it was asked for last
}

const unread = -1

// NewBatch begins a batch in a transaction that was just begun.
func (c *Conn) NewBatch(h Host, cache *Cache, apart bool) *Batch {
	return &Batch{conn: c, host: h, cache: cache, inSavepoints: apart, known: map[place]entry{}, changed: map[*store.Table]bool{}}
}

// Changed are the tables that were written to, also by functions that failed.
func (b *Batch) Changed() map[*store.Table]bool { return b.changed }

// Committed hands on what is known, once the transaction is committed.
func (b *Batch) Committed() {
	for p, e := range b.known {
		if e.asked {
			b.cache.put(p, e)
		} else {
			b.cache.drop(p)
		}
	}
}

// peek gives what is known of a row.
func (b *Batch) peek(p place) (entry, bool) {
	e, ok := b.known[p]
	if !ok {
		e, ok = b.cache.get(p)
	}
	return e, ok
}

// read gives a row, from the database if need be.
func (b *Batch) read(t *Tx, p place) (entry, error) {
	e, ok := b.peek(p)
	if !ok {
		row, err := t.fetch(p)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return e, err
		}
		e = entry{version: row.Version, stored: row.Version, doc: string(row.Doc), keys: row.Keys, columns: row.Keys}
	}
	e.asked, e.idle = true, 0
	b.known[p] = e
	return e, nil
}

// put writes a row that is at a version, or none, to be at another one.
func (b *Batch) put(t *Tx, p place, row store.Row, expected, version int64) error {
	was, ok, err := b.before(t, p)
	if err != nil {
		return err
	}
	if expected < 0 || ok && was.version != expected {
		return conflict(p, expected)
	}
	e := was
	if !ok {
		e.stored = expected // it is believed; Flush finds out
	}
	e.version, e.doc, e.keys, e.dirty = version, string(row.Doc), slices.Clone(row.Keys), true
	return b.change(t, p, was, ok, e)
}

// before is what a row is when it is written: a guarded one may not be known.
func (b *Batch) before(t *Tx, p place) (e entry, ok bool, err error) {
	if e, ok = b.peek(p); ok || p.table.Guarded {
		return e, ok, nil
	}
	e, err = b.read(t, p)
	return e, err == nil, err
}

// remove deletes a row.
func (b *Batch) remove(t *Tx, p place) error {
	was, ok := b.peek(p)
	e := entry{stored: was.stored, columns: was.columns, asked: was.asked}
	if !ok {
		e.stored = unread
	}
	e.dirty = e.stored != 0
	return b.change(t, p, was, ok, e)
}

// change sets an entry; a function that runs apart has it written at once.
func (b *Batch) change(t *Tx, p place, was entry, known bool, is entry) error {
	if t.inSavepoint && is.dirty {
		if err := b.write(t, p, &is); err != nil {
			return err
		}
	} else if is.dirty && !was.dirty {
		b.order = append(b.order, p)
	}
	b.changed[p.table] = true
	t.undo = append(t.undo, undo{p, was, known})
	b.known[p] = is
	return nil
}

// undo is how an entry was before a function changed it.
type undo struct {
	place
	was   entry
	known bool
}

// undo takes back what a function changed. What it left in the order is not dirty
// any more, or was before.
func (b *Batch) undo(t *Tx) {
	for _, u := range slices.Backward(t.undo) {
		if u.known {
			b.known[u.place] = u.was
		} else {
			delete(b.known, u.place)
		}
	}
}

// Flush writes what was put off. ErrApart: a row isn't at the version that was
// believed of it, or a statement failed and only the function it is from should.
func (b *Batch) Flush() error { return b.flush(func(*store.Table) bool { return true }) }

func (b *Batch) flush(of func(*store.Table) bool) error {
	var due []place
	kept, seen := b.order[:0], map[place]bool{} // one that a failed function wrote too stands twice
	for _, p := range b.order {
		switch {
		case !of(p.table):
			kept = append(kept, p)
		case b.known[p].dirty && !seen[p]:
			due, seen[p] = append(due, p), true
		}
	}
	b.order = kept
	t := b.conn.Begin(false)
	if err := b.writeAll(t, due); err != nil {
		return b.cause(t, err)
	}
	return nil
}

// writeAll brings rows into the database, in one message where that can be.
func (b *Batch) writeAll(t *Tx, due []place) error {
	if b.conn.dialect.Together == nil || len(due) < 2 {
		for _, p := range due {
			e := b.known[p]
			if err := b.write(t, p, &e); err != nil {
				return err
			}
			b.known[p] = e
		}
		return nil
	}
	entries := make([]entry, len(due))
	for i, p := range due {
		entries[i] = b.known[p]
	}
	if err := t.storeAll(due, entries); err != nil {
		return err
	}
	for i, p := range due {
		b.known[p] = entries[i].written()
	}
	return nil
}

// cause is why a batch can't go on as it is.
func (b *Batch) cause(t *Tx, err error) error {
	if failed := t.Err(); failed != nil {
		if broken := b.host.Broken(failed); broken != nil {
			return broken
		}
	}
	return fmt.Errorf("%w: %w", ErrNeedsSavepoint, err)
}

// write brings a row into the database.
func (b *Batch) write(t *Tx, p place, e *entry) error {
	if err := t.store(p, e); err != nil {
		return err
	}
	*e = e.written()
	return nil
}

// written is an entry that the database has.
func (e entry) written() entry {
	e.stored, e.columns, e.dirty = e.version, e.keys, false
	return e
}
