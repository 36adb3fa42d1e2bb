package sqlite

import (
	"errors"

	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/crashpoint"
	"github.com/countersign/countersign/internal/store"
)

// maxBatch bounds how many Updates share a commit, and so how long the first of
// them waits for the last.
const maxBatch = 64

// batch runs first and whoever waits by then in one transaction. Nobody is
// answered before it is committed: not even who failed, since it may have failed
// because of what an earlier one wrote.
func (w *writer) batch(first *request) {
	w.members = append(w.members[:0], first)
	err := w.conn.Exec("BEGIN IMMEDIATE")
	if err == nil {
		err = w.lendToAll(first)
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
	w.commits.Add(1)
	for _, r := range w.members {
		r.answer(r.err)
	}
}

// abandon tells everyone in the batch that nothing was changed. In doubt it
// poisons the store first.
func (w *writer) abandon(cause error, doubt bool) {
	if code(cause) == codes.SQLITE_FULL {
		w.reserve.spend()
	}
	cause = unavailable(cause)
	if doubt {
		w.poison(cause)
	} else {
		// SQLite has mostly done this itself, and then says that there is no
		// transaction.
		_ = w.conn.Exec("ROLLBACK")
	}
	for _, r := range w.members {
		r.answer(cause)
	}
}

// answer ends a request, also one that has not had its turn.
func (r *request) answer(err error) {
	close(r.turn)
	r.result <- err
}

// lost says whether a statement's error took the whole transaction with it.
func lost(err error) bool { return errors.Is(err, store.ErrUnavailable) }

// lendToAll lends the transaction to first and to those who wait, one by one,
// until the transaction itself is broken.
func (w *writer) lendToAll(first *request) error {
	for r := first; ; {
		if err := w.lend(r); err != nil {
			return err
		}
		if len(w.members) == maxBatch {
			return nil
		}
		if r = w.next(); r == nil {
			return nil
		}
		w.members = append(w.members, r)
	}
}

// lend runs one function behind a savepoint. A function that fails is undone
// alone; an error is returned only if the whole transaction is lost.
func (w *writer) lend(r *request) error {
	if err := w.conn.Exec("SAVEPOINT turn"); err != nil {
		return err
	}
	tx := w.conn.Begin(false)
	r.turn <- tx
	r.err = <-r.ended
	crashpoint.At("sqlite.lent", nil)
	tx.End()
	if err := tx.Err(); err != nil {
		if lost(err) {
			return err
		}
		if r.err == nil {
			r.err = err // fn swallowed it, but the statement did not happen
		}
	}
	if r.err != nil {
		if err := w.conn.Exec("ROLLBACK TO turn"); err != nil {
			return err
		}
	}
	return w.conn.Exec("RELEASE turn")
}
