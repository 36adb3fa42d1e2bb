package batches

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// Run runs a request's function in the batch. If the function fails, only its writes are
// undone. An error of Run concerns the whole batch: roll it back, and after
// ErrNeedsSavepoint run it again. But after ErrPutOff only the function has to run again.
func (b *Batch) Run(r *turns.Request) error {
	if b.inSavepoints {
		return b.runInSavepoint(r)
	}
	t := &Tx{direct: *b.conn.Begin(false), batch: b, mayPutOff: b.putsOff && r.PutOff < maxPutOff}
	if !r.Call(t) {
		return nil
	}
	t.End()
	if errors.Is(t.Err(), ErrPutOff) {
		b.undo(t)
		r.PutOff++
		return ErrPutOff
	}
	if err := t.Err(); err != nil && !t.again {
		return b.cause(err, err)
	}
	if r.Err() != nil || t.again {
		b.undo(t)
	}
	if t.again {
		return b.runInSavepoint(r)
	}
	return nil
}

// runInSavepoint runs a function in a savepoint, after the deferred writes of others.
func (b *Batch) runInSavepoint(r *turns.Request) error {
	if err := b.Flush(); err != nil {
		return err
	}
	if err := b.host.Exec("SAVEPOINT turn"); err != nil {
		return err
	}
	t := &Tx{direct: *b.conn.Begin(false), batch: b, inSavepoint: true}
	if r.Call(t) {
		t.End()
		if err := b.undoFailed(t, r); err != nil {
			return err
		}
	}
	return b.host.Exec("RELEASE SAVEPOINT turn")
}

// undoFailed rolls back a function that failed.
func (b *Batch) undoFailed(t *Tx, r *turns.Request) error {
	if err := t.Err(); err != nil {
		if broken := b.host.Broken(err); broken != nil {
			return broken
		}
		r.Fail(err) // fn may have ignored the error, but its statement failed
	}
	if r.Err() == nil {
		return nil
	}
	b.undo(t)
	return b.host.Exec("ROLLBACK TO SAVEPOINT turn")
}

// flushTable writes the table's deferred writes before a query reads it. A function that
// has itself deferred writes to the table runs again in a savepoint.
func (t *Tx) flushTable(table *store.Table) error {
	if t.inSavepoint || t.direct.Usable() != nil {
		return nil
	}
	if t.offline {
		return t.notCached()
	}
	for _, u := range t.undo {
		if u.table == table {
			t.again = true
			return t.fail(ErrNeedsSavepoint)
		}
	}
	return t.fail(t.batch.flush(func(dirty *store.Table) bool { return dirty == table }))
}
