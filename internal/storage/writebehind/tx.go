package writebehind

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Tx reads a Snapshot, and in a Batch also writes.
type Tx struct {
	*Snapshot
	batch *Batch // nil: only reads
	over  bool
	err   error // a read of the database failed, or the snapshot was overtaken
}

var _ store.Whole = (*Tx)(nil)

// Err returns the error of the read that failed, if any did.
func (t *Tx) Err() error { return t.err }

// end makes every later use an error, so that a Tx that outlives its function can't use the
// next batch.
func (t *Tx) end() { t.over = true }

// usable is the error with which every use fails, if any.
func (t *Tx) usable() error {
	if t.over {
		return store.ErrOver
	}
	return t.err
}

func (t *Tx) writable() error {
	if err := t.usable(); err != nil {
		return err
	}
	if t.batch == nil {
		return store.ErrReadOnly
	}
	return nil
}

// Get implements store.Tx.
func (t *Tx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	r, err := t.look(place{table, tenant, id})
	if err != nil {
		return store.Row{}, err
	}
	return r.as(id), nil
}

// Look implements store.Looker.
func (t *Tx) Look(table *store.Table, tenant, id string) (store.Row, error) {
	r, err := t.look(place{table, tenant, id})
	if err != nil {
		return store.Row{}, err
	}
	return store.Row{ID: id, Version: r.version, Keys: r.keys, Doc: r.doc}, nil
}

func (t *Tx) look(p place) (row, error) {
	err := t.usable()
	var r row
	if err == nil {
		r, err = t.read(p)
	}
	if err != nil {
		return row{}, fmt.Errorf("get %s %s: %w", p.table.Name, p.id, err)
	}
	if r.version == 0 {
		return row{}, missingError(p)
	}
	return r, nil
}

// missingError is an ErrNotFound. Most of them are an answer, whose text nobody reads.
type missingError place

func (m missingError) Error() string {
	return fmt.Sprintf("%s %q: %v", m.table.Name, m.id, store.ErrNotFound)
}

func (m missingError) Unwrap() error { return store.ErrNotFound }

// as is the row as callers get it: theirs to change.
func (r row) as(id string) store.Row {
	return store.Row{ID: id, Version: r.version, Keys: slices.Clone(r.keys), Doc: bytes.Clone(r.doc)}
}

// kept is a row to keep, with a version: what its caller may still change is copied.
func kept(r store.Row, version int64) row {
	if !r.Given {
		r.Doc, r.Keys = bytes.Clone(r.Doc), slices.Clone(r.Keys)
	}
	return row{version, r.Doc, r.Keys}
}

// read finds a row in the batch, the layers or the database.
func (t *Tx) read(p place) (row, error) {
	if t.batch != nil {
		if r, ok := t.batch.changes.get(p); ok {
			return r, nil
		}
	}
	g := group{p.table, p.tenant}
	for _, l := range slices.Backward(t.own) {
		if r, ok := l.get(g, p.id, t.commit); ok {
			return r, nil
		}
	}
	if t.batch != nil && t.batch.absent(t, g, p.id) {
		return row{}, nil
	}
	r, err := t.fetch(p)
	return r, t.failed(err)
}

// failed notes the error of a read: after it no later one runs, and what was read before is
// of no use. That a document is damaged is an answer.
func (t *Tx) failed(err error) error {
	if err != nil && t.err == nil && !errors.Is(err, store.ErrDamaged) {
		t.err = err
	}
	return err
}

// Put implements store.Tx.
func (t *Tx) Put(table *store.Table, tenant string, r store.Row, expected int64) error {
	if err := table.CheckRow(r); err != nil {
		return err
	}
	return t.put(place{table, tenant, r.ID}, r, expected, expected+1)
}

// Load implements store.Whole.
func (t *Tx) Load(table *store.Table, tenant string, r store.Row) error {
	if err := table.CheckLoad(r); err != nil {
		return err
	}
	return t.put(place{table, tenant, r.ID}, r, 0, r.Version)
}

func (t *Tx) put(p place, r store.Row, expected, to int64) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("put %s %s: %w", p.table.Name, p.id, err)
	}
	was, err := t.read(p)
	if err != nil {
		return fmt.Errorf("put %s %s: %w", p.table.Name, p.id, err)
	}
	if expected < 0 || was.version != expected {
		return fmt.Errorf("%s %s is not at version %d: %w", p.table.Name, p.id, expected, store.ErrConflict)
	}
	t.change(p, was, kept(r, to))
	return nil
}

// Delete implements store.Tx.
func (t *Tx) Delete(table *store.Table, tenant, id string) error {
	if err := t.writable(); err != nil {
		return fmt.Errorf("delete %s %s: %w", table.Name, id, err)
	}
	p := place{table, tenant, id}
	was, err := t.read(p)
	if err != nil {
		return fmt.Errorf("delete %s %s: %w", table.Name, id, err)
	}
	if was.version != 0 {
		t.change(p, was, row{})
	}
	return nil
}

func (t *Tx) change(p place, was, is row) {
	t.batch.changes.set(p, was, is)
	t.batch.wrote(p)
}
