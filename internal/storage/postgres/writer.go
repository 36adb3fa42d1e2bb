package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// writer owns the connection that writes. The fields below the line belong to its
// goroutine, and to the one caller that runs in its transaction.
type writer struct {
	settings settings
	id       string // in countersign_batches
	queue    *turns.Queue[*turns.Request]
	closing  chan struct{} // closed to stop
	failed   chan struct{} // closed when nothing may be written any more
	stopped  chan struct{} // closed at the end; reason is set before
	reason   error
	full     atomic.Bool  // the server's disk
	denied   atomic.Bool  // a right to write a table
	commits  atomic.Int64 // for benchmarks

	// -- the goroutine's own
	db        *sql.DB
	second    func() *sql.DB   // to look at who holds the writer's row
	seen      holder           // at the last look; see watch
	onError   func(error)      // what the database is told about each
	session   *session         // nil: not connected
	batch     int64            // the number of the last try
	last      inTurn           // the last that was committed
	at        time.Time        // when that was
	alone     int              // since so many batches nobody else wrote
	contended bool             // others wrote between the last two batches that asked
	cache     *batches.Cache   // its rows; they hold but for what turns since have changed
	outdated  bool             // what others have changed was learned by a batch that isn't committed
	members   []*turns.Request // of the batch at hand
	took      time.Duration    // its functions, in a draft too: they may have to run again in the turn
	crowd     int              // members of the batch before
}

func newWriter(db *database) *writer {
	return &writer{
		settings: db.settings,
		id:       rand.Text(),
		queue:    turns.NewQueue[*turns.Request](),
		closing:  make(chan struct{}),
		failed:   make(chan struct{}),
		stopped:  make(chan struct{}),
		db:       db.pool(1),
		second:   func() *sql.DB { return db.pool(1) },
		onError:  db.learn,
		cache:    batches.NewCache(),
	}
}

// update waits for its turn, runs fn in the writer's transaction, and waits for the commit.
func (w *writer) update(ctx context.Context, fn func(store.Tx) error) error {
	return w.queue.Update(ctx, turns.NewRequest(), fn, w.stopped, func() error { return w.reason })
}

// run is the writer's goroutine.
func (w *writer) run() {
	defer close(w.stopped)
	for w.reason == nil {
		first, ok := turns.Await(w.queue, w.closing)
		if !ok {
			w.drain()
			return
		}
		w.serve(first)
	}
}

// drain serves the Updates that wait when the store is closed.
func (w *writer) drain() {
	for first := w.next(); first != nil && w.reason == nil; first = w.next() {
		w.serve(first)
	}
	if w.reason == nil {
		w.reason = store.ErrClosed
	}
}

// fail ends all writing.
func (w *writer) fail(cause error) {
	w.reason = fmt.Errorf("no writes until a restart: %w", unavailable(cause))
	close(w.failed)
}

// next returns a waiting Update, nil if there is none.
func (w *writer) next() *turns.Request {
	r, _ := w.queue.Next()
	return r
}

// close serves the Updates that wait now, and stops the goroutine and the connection. It is
// called once.
func (w *writer) close() error {
	close(w.closing)
	<-w.stopped
	if w.session != nil {
		w.session.release(true)
	}
	return w.db.Close()
}
