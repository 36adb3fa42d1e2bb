package sqlite

import (
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// maxBatch bounds how many Updates share a commit, and so how long the first of
// them waits for the last.
const maxBatch = 64

// batch runs first, and every Update that is waiting by then, and makes them one commit.
// Each is answered after the commit, also one that failed: it may have failed because of
// what an earlier Update of the batch wrote.
func (w *writer) batch(first *request) {
	w.members, w.took = append(w.members[:0], first), 0
	b := w.rows.Begin()
	defer b.End()
	for i := 0; w.member(i); i++ {
		w.runMember(b, w.members[i])
		crashpoint.At("sqlite.lent", nil)
	}
	if !b.Empty() {
		if doubt, err := w.commit(b); err != nil {
			w.abandon(err, doubt)
			return
		}
	}
	for _, r := range w.members {
		r.Answer(r.failure)
	}
}

// runMember runs the function of an Update. After an error of the database its writes are
// undone, whatever it makes of the error.
func (w *writer) runMember(b *writebehind.Batch, r *request) {
	began := time.Now()
	defer func() { w.took += time.Since(began) }()
	err, broken := b.Run(func(tx store.Tx) error {
		r.Call(tx)
		return r.Err()
	})
	if r.failure = err; broken != nil && !errors.Is(err, store.ErrUnavailable) {
		r.failure = broken
	}
}

// commit makes the batch durable and shows it to Views.
func (w *writer) commit(b *writebehind.Batch) (doubt bool, err error) {
	if err := w.flusher.failure(); err != nil {
		w.poison(err)
		return false, err
	}
	frame, number := b.Frame(w.frame[:0])
	if w.frame = frame; cap(frame) > maxFrameKept {
		w.frame = nil
	}
	if doubt, err := w.journal.append(number, frame, w.flusher.upTo.Load()); err != nil {
		return doubt, err
	}
	b.Committed()
	for _, t := range b.Touched() {
		if count := w.changes[t]; count != nil { // tests have tables of their own
			count.Add(1)
		}
	}
	w.commits.Add(1)
	return false, nil
}

// maxFrameKept bounds the buffer that is kept for the next frame.
const maxFrameKept = 1 << 20

// member reports whether the batch has a member i; the next waiting Update becomes it if
// there is room and time.
func (w *writer) member(i int) bool {
	if i < len(w.members) || i == maxBatch || w.took >= turns.BatchTime {
		return i < len(w.members)
	}
	r := w.next()
	if r != nil {
		w.members = append(w.members, r)
	}
	return r != nil
}

// abandon answers every Update of the batch that nothing was changed. If the commit may
// still become durable, it poisons the store first, and the answer is that nobody knows.
func (w *writer) abandon(cause error, doubt bool) {
	w.reserve.spendIfFull(cause)
	if cause = unavailable(cause); errors.Is(cause, store.ErrFull) {
		cause = fmt.Errorf("%w: %w", w.reserve.refusal(), cause)
	}
	if doubt {
		w.poison(cause)
		cause = fmt.Errorf("%w: %s", store.ErrInDoubt, cause.Error()) // cause says that nothing was changed
	} else {
		// SQLite has usually rolled back already; then this fails, which is harmless.
		_ = w.journal.conn.Exec("ROLLBACK")
	}
	for _, r := range w.members {
		r.Answer(cause)
	}
}

// lost reports an error that is about the disk, memory or the file, not about a statement.
func lost(err error) bool { return errors.Is(err, store.ErrUnavailable) }
