package sqlite

import (
	"errors"

	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// maxBatch bounds how many Updates share a commit, and so how long the first of
// them waits for the last.
const maxBatch = 64

// batch runs first, and every Update that is waiting by then, in one transaction. Each is
// answered after the commit, also one that failed: it may have failed because of what an
// earlier Update of the batch wrote.
func (w *writer) batch(first *request) {
	w.members = append(w.members[:0], first)
	b, err := w.attempt(false)
	if errors.Is(err, sqldoc.ErrNeedsSavepoint) {
		if err = w.conn.Exec("ROLLBACK"); err == nil {
			b, err = w.attempt(true)
		}
	}
	if err != nil {
		w.abandon(err, syncFailed(err))
		return
	}
	crashpoint.At("sqlite.commit", nil)
	if err := w.conn.Exec("COMMIT"); err != nil {
		w.abandon(err, !surelyNotCommitted(err))
		return
	}
	crashpoint.At("sqlite.committed", nil)
	b.Committed()
	for t := range b.Changed() {
		if count := w.changes[t]; count != nil { // tests have tables of their own
			count.Add(1)
		}
	}
	w.commits.Add(1)
	for _, r := range w.members {
		r.Answer(r.Err())
	}
}

// attempt runs the batch up to its COMMIT.
func (w *writer) attempt(apart bool) (*sqldoc.Batch, error) {
	if err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	if apart {
		w.cache.Clear() // if what it says were wrong, no batch would ever succeed
	}
	b := w.conn.NewBatch(transaction{w.conn}, w.cache, apart)
	for i := 0; w.member(i); i++ {
		if err := b.Run(w.members[i].Request); err != nil {
			return nil, err
		}
		crashpoint.At("sqlite.lent", nil)
	}
	return b, b.Flush()
}

// member reports whether the batch has a member i; the next waiting Update becomes it if
// there is room.
func (w *writer) member(i int) bool {
	if i < len(w.members) || i == maxBatch {
		return i < len(w.members)
	}
	r := w.next()
	if r != nil {
		w.members = append(w.members, r)
	}
	return r != nil
}

// transaction is the writer's transaction as sqldoc.Batch uses it.
type transaction struct{ *sqldoc.Conn }

// Broken implements sqldoc.Host.
func (transaction) Broken(err error) error {
	if lost(err) {
		return err
	}
	return nil
}

// abandon answers every Update of the batch that nothing was changed. If the transaction
// may still become durable, it poisons the store first.
func (w *writer) abandon(cause error, doubt bool) {
	if code(cause) == codes.SQLITE_FULL {
		w.reserve.spend()
	}
	cause = unavailable(cause)
	if doubt {
		w.poison(cause)
	} else {
		// SQLite has usually rolled back already; then this fails, which is harmless.
		_ = w.conn.Exec("ROLLBACK")
	}
	for _, r := range w.members {
		r.Answer(cause)
	}
}

// lost reports whether a statement's error ended the whole transaction.
func lost(err error) bool { return errors.Is(err, store.ErrUnavailable) }
