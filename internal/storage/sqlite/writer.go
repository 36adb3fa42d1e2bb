package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

var errClosed = fmt.Errorf("%w: the store is closed", store.ErrUnavailable)

// writer owns the connection that writes. The fields below the line belong to its
// goroutine, and to the one caller that runs in its transaction.
type writer struct {
	queue   chan *request // unbuffered: who has sent has the turn
	closing chan struct{} // closed to stop
	failed  chan struct{} // closed when poisoned
	stopped chan struct{} // closed at the end; reason is set before
	damage  chan error    // why no more may be written, found out by somebody else
	reason  error
	commits atomic.Int64 // one sync each, for benchmarks
	changes map[*store.Table]*atomic.Int64

	// -- the goroutine's own
	conn            *sqldoc.Conn
	cache           *sqldoc.Cache // the last commit's rows: nobody else writes
	reserve         *reserve
	members         []*request // of the batch at hand
	checkpointPages int
	checkpointAt    int // pages in the log, not yet in the database
	startOverAt     int // pages in the log, in the database or not
	startOverPause  time.Duration
}

// request is one Update.
type request struct {
	*sqldoc.Request
	urgent bool // it may be written into the reserve
}

func newWriter(conn *sqldoc.Conn, r *reserve, s settings) *writer {
	return &writer{
		conn:            conn,
		cache:           sqldoc.NewCache(),
		reserve:         r,
		queue:           make(chan *request),
		closing:         make(chan struct{}),
		failed:          make(chan struct{}),
		stopped:         make(chan struct{}),
		damage:          make(chan error),
		changes:         noChanges(),
		checkpointPages: s.checkpointPages,
		checkpointAt:    s.checkpointPages,
		startOverAt:     2 * s.checkpointPages,
		startOverPause:  s.startOverPause,
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
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{sqldoc.NewRequest(), store.IsUrgent(ctx)}
	select {
	case w.queue <- r:
		return r.Serve(ctx, fn)
	case <-w.stopped:
		return w.reason
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	for !w.poisoned() {
		select {
		case first := <-w.queue:
			if w.admit(first) {
				w.serve(first)
			}
		case cause := <-w.damage:
			w.poison(cause)
		case <-w.closing:
			w.drain()
			return
		}
	}
}

// fail ends all writing because of damage that the scrub found.
func (w *writer) fail(cause error) {
	select {
	case w.damage <- cause:
	case <-w.stopped:
	}
}

// drain serves the Updates that wait when the store is closed.
func (w *writer) drain() {
	w.reason = errClosed
	for first := w.next(); first != nil && !w.poisoned(); first = w.next() {
		w.serve(first)
	}
}

// serve commits one batch, answers it, and then keeps the log short.
func (w *writer) serve(first *request) {
	w.batch(first)
	if !w.poisoned() {
		w.checkpoint()
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
		select {
		case r := <-w.queue:
			if w.admit(r) {
				return r
			}
		default:
			return nil
		}
	}
}

var errFull = fmt.Errorf("%w: the disk is full; what is left is kept for the outcomes of calls", store.ErrUnavailable)

// admit refuses at once an Update for which there is no space.
func (w *writer) admit(r *request) bool {
	ok := w.reserve.admits(r.urgent)
	if !ok {
		r.Answer(errFull)
	}
	return ok
}

// close serves the Updates that wait now and stops the goroutine. It is called once.
func (w *writer) close() {
	close(w.closing)
	<-w.stopped
}
