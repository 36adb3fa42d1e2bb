package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// writer runs Updates and commits them to the journal. The fields below the line belong to
// its goroutine, and to the one caller that runs in its batch.
type writer struct {
	queue   *turns.Queue[*request]
	closing chan struct{} // closed to stop
	failed  chan struct{} // closed when poisoned
	stopped chan struct{} // closed at the end; reason is set before
	damage  chan error    // why no more may be written, found out by somebody else
	reason  error
	commits atomic.Int64 // one sync each, for benchmarks
	changes map[*store.Table]*atomic.Int64
	layers  *writebehind.Layers
	flusher *flusher

	// -- the goroutine's own
	rows     *writebehind.Writer
	journal  *journal
	reserve  *reserve
	members  []*request    // of the batch at hand
	took     time.Duration // its functions
	frame    []byte        // the buffer of the last frame
	flushing bool          // the flusher has a layer
	stuck    bool          // and can't write it at present
	age      *time.Timer
	aging    bool // age is running
	settings settings
}

// request is one Update.
type request struct {
	*turns.Request
	urgent  bool  // it may be written into the reserve
	failure error // what its caller gets if the batch is committed
}

func newWriter(j *journal, f *flusher, rows *writebehind.Writer, l *writebehind.Layers, r *reserve, s settings) *writer {
	return &writer{
		layers: l, rows: rows, journal: j, flusher: f, reserve: r, settings: s,
		queue:   turns.NewQueue[*request](),
		closing: make(chan struct{}),
		failed:  make(chan struct{}),
		stopped: make(chan struct{}),
		damage:  make(chan error),
		changes: noChanges(),
	}
}

func noChanges() map[*store.Table]*atomic.Int64 {
	changes := map[*store.Table]*atomic.Int64{}
	for _, t := range store.Tables() {
		changes[t] = new(atomic.Int64)
	}
	return changes
}

// Changes implements store.Changing.
func (s *Store) Changes(tables ...*store.Table) (n int64) {
	for _, t := range tables {
		n += s.writer.changes[t].Load()
	}
	return n
}

// update waits for its turn, runs fn in the writer's transaction, and waits for the commit.
func (w *writer) update(ctx context.Context, fn func(store.Tx) error) error {
	r := &request{Request: turns.NewRequest(), urgent: store.IsUrgent(ctx)}
	return w.queue.Update(ctx, r, fn, w.stopped, func() error { return w.reason })
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	w.age, w.aging = time.NewTimer(w.settings.flushAge), true
	defer w.age.Stop()
	for !w.poisoned() {
		select {
		case first := <-w.queue.Outcomes:
			w.first(first)
		case first := <-w.queue.Others:
			w.first(first)
		case written := <-w.flusher.tried:
			w.tried(written)
		case <-w.age.C:
			w.flush()
			w.aging = false
			w.grow()
		case cause := <-w.damage:
			w.poison(cause)
		case <-w.closing:
			w.drain()
			return
		}
	}
}

func (w *writer) first(r *request) {
	if w.admit(r) {
		w.serve(r)
	}
}

// fail ends all writing, for a reason that somebody else has found.
func (w *writer) fail(cause error) {
	select {
	case w.damage <- cause:
	case <-w.stopped:
	}
}

// drain serves the Updates that wait when the store is closed.
func (w *writer) drain() {
	w.reason = store.ErrClosed
	for !w.poisoned() { // then nobody is taken from the queue, who would get no answer
		first := w.next()
		if first == nil {
			return
		}
		w.serve(first)
	}
}

// serve commits one batch, and then keeps the rows that are not written to their tables,
// and the journal's log, within their bounds.
func (w *writer) serve(first *request) {
	w.batch(first)
	if w.poisoned() {
		return
	}
	if err := w.journal.checkpoint(); syncFailed(err) {
		w.poison(err)
		return
	}
	w.grow()
	if w.layers.Pending() >= w.settings.flushBytes {
		w.flush()
	}
	for w.layers.Pending() >= w.settings.mostPending && w.waits() {
		w.flush()
	}
}

// grow sees to it that rows don't wait for others.
func (w *writer) grow() {
	if !w.aging && w.layers.Pending() > 0 {
		w.aging = true
		w.age.Reset(w.settings.flushAge)
	}
}

// flush has the active layer written, unless another one is being written.
func (w *writer) flush() {
	if w.flushing {
		return
	}
	if frozen := w.layers.Freeze(); frozen != nil {
		w.flushing = true
		w.flusher.work <- frozen
	}
}

// tried notes what became of the layer that is being written.
func (w *writer) tried(written bool) { w.flushing, w.stuck = w.flushing && !written, !written }

// waits waits for the layer that is being written; false if there is none, or if writing it
// fails: then what is urgent must still be taken.
func (w *writer) waits() bool {
	if !w.flushing || w.stuck {
		return false
	}
	select {
	case written := <-w.flusher.tried:
		w.tried(written)
		return true
	case cause := <-w.damage:
		w.poison(cause)
		return false
	}
}

// poison ends all writing.
func (w *writer) poison(cause error) {
	crashpoint.At("sqlite.poisoned", nil)
	w.reason = fmt.Errorf("no writes until a restart: %w", unavailable(cause))
	close(w.failed)
}

func (w *writer) poisoned() bool {
	select {
	case <-w.failed:
		return true
	default:
		return false
	}
}

// next returns a waiting Update, nil if there is none.
func (w *writer) next() *request {
	for {
		r, ok := w.queue.Next()
		if !ok || w.admit(r) {
			return r
		}
	}
}

var errBehind = fmt.Errorf("%w: rows of earlier commits can't be written to their tables; only outcomes of calls are taken until they can", store.ErrUnavailable)

// admit refuses at once an Update for which there is no space: on the disk, or for rows that
// are not written to their tables because that fails.
func (w *writer) admit(r *request) bool {
	switch {
	case !w.reserve.admits(r.urgent):
		r.Answer(w.reserve.refusal())
	case !r.urgent && w.behind():
		r.Answer(errBehind)
	default:
		return true
	}
	return false
}

// behind reports that rows can't be written to their tables, and too many wait for that: in
// memory, or, where few rows change again and again, in the journal.
func (w *writer) behind() bool {
	most := w.settings.mostPending
	return w.flusher.failing.Load() && (w.layers.Pending() >= most || w.journal.waiting.Load() >= 4*int64(most))
}

// close serves the Updates that wait now and stops the goroutine. It is called once.
func (w *writer) close() {
	close(w.closing)
	<-w.stopped
}
