package postgres

import (
	"errors"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/turns"
)

// transaction is the writer's transaction as batches.Batch uses it.
type transaction struct {
	*session
	writer *writer
	waits  bool  // it has not begun; see ahead
	broken error // why it could not begin
}

// Exec implements batches.Host.
func (t *transaction) Exec(text string) error {
	if err := t.begin(); err != nil {
		return err
	}
	_, err := t.run(text)
	return err
}

// Broken implements batches.Host.
func (t *transaction) Broken(err error) error {
	if t.broken != nil {
		return t.broken
	}
	if passes(err) || t.lost() {
		return t.mean(err)
	}
	t.writer.notice(err)
	return nil
}

func (w *writer) anybodyWrote() bool {
	for _, r := range w.members {
		if r.Err() == nil {
			return true
		}
	}
	return false
}

// runAll runs the members of the batch in turn, and then the waiting Updates, which become
// members, and those that come within linger of the last one's end. What a function has made in
// the draft is taken over if it would make the same now.
//
// In a crowd, or where a message takes long, those that need what must be asked of the database
// run after the others, so that it is asked for in one message.
func (w *writer) runAll(b *batches.Batch, d *draft, linger time.Duration) error {
	b.PutOff(w.crowd >= aCrowd || w.settings.far)
	var later []*turns.Request
	for i := 0; w.member(i, linger); i++ {
		if d.takenOver(b, w.members[i]) {
			continue
		}
		began := time.Now()
		err := b.Run(w.members[i])
		w.took += time.Since(began)
		switch {
		case errors.Is(err, batches.ErrPutOff):
			later = append(later, w.members[i])
		case err != nil:
			return err
		}
		crashpoint.At("postgres.lent", nil)
	}
	return runLater(b, later)
}

// aCrowd are so many members of the batch before that several of the next ones probably need
// something.
const aCrowd = 4

func runLater(b *batches.Batch, waiting []*turns.Request) error {
	for len(waiting) > 0 {
		if err := b.Fetch(); err != nil {
			return err
		}
		again := waiting[:0]
		for _, r := range waiting {
			switch err := b.Run(r); {
			case errors.Is(err, batches.ErrPutOff):
				again = append(again, r)
			case err != nil:
				return err
			}
		}
		waiting = again
	}
	return nil
}

// member reports whether the batch has a member i; the next waiting Update becomes it if
// there is room and time.
func (w *writer) member(i int, linger time.Duration) bool {
	if i < len(w.members) || w.isFull(i) {
		return i < len(w.members)
	}
	r := w.next()
	if r == nil && linger > 0 {
		r = w.nextWithin(linger)
	}
	if r != nil {
		w.members = append(w.members, r)
	}
	return r != nil
}

// isFull reports that a batch of n members takes no further one.
func (w *writer) isFull(n int) bool { return n == maxBatch || w.took >= w.settings.batchTime }

// nextWithin waits for an Update.
func (w *writer) nextWithin(d time.Duration) *turns.Request {
	late := time.NewTimer(d)
	defer late.Stop()
	r, _ := turns.Await(w.queue, late.C)
	return r
}
