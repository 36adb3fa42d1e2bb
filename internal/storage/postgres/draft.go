package postgres

import (
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/turns"
)

// While a batch waits for the lock, which other processes hold most of the time, its functions
// run in a draft, on the rows of the cache. With the lock it learns what others have changed, and
// takes over what each function has made, unless it has seen one of that. So the lock is held
// for the functions that others' changes concern, and for what they all write: the log's head.

// draft is a batches.Draft of the batch at hand. All its methods do nothing if it is nil.
type draft struct {
	*batches.Draft
	writer *writer
	begun  time.Time
}

// newDraft returns nil if functions would run for nothing, or needn't: mostly the lock is free
// if others didn't write between the last two batches.
func (w *writer) newDraft(s *session) *draft {
	if w.settings.draftFor == 0 || !w.contended {
		return nil
	}
	return &draft{batches.NewDraft(s.conn, w.cache), w, time.Now()}
}

// during runs functions until wait has returned: the members of the batch and then the waiting
// Updates, which become members.
func (d *draft) during(wait func() error) error {
	if d == nil {
		return wait()
	}
	ended, err := make(chan struct{}), error(nil)
	go func() {
		defer close(ended)
		err = wait()
	}()
	for i := 0; d.member(i, ended); i++ {
		began := time.Now()
		d.Run(d.writer.members[i])
		d.writer.took += time.Since(began)
	}
	<-ended
	return err
}

// member waits for a member i of the batch. It reports false once the wait has ended, or if the
// batch is full.
func (d *draft) member(i int, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return false
	default:
	}
	w := d.writer
	if w.member(i, 0) || w.isFull(i) {
		return i < len(w.members)
	}
	r, ok := turns.Await(w.queue, ended)
	if ok {
		w.members = append(w.members, r)
	}
	return ok
}

// takenOver reports that the batch has what the function has made in the draft.
func (d *draft) takenOver(b *batches.Batch, r *turns.Request) bool {
	if d == nil || time.Since(d.begun) >= d.writer.settings.draftFor || !b.TakeOver(d.Draft, r) {
		return false
	}
	crashpoint.At("postgres.lent", nil)
	return true
}
