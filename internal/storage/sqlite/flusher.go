package sqlite

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// flusher writes frozen layers to the tables, in a goroutine and on a connection of its own.
type flusher struct {
	conn    *sqldoc.Conn
	packer  pack.Packer
	log     *checkpointer
	reserve *reserve
	work    chan *writebehind.Frozen
	tried   chan bool     // receives true when a layer is written, and false when its first try failed
	stop    chan struct{} // closed to stop trying
	ended   chan struct{}
	upTo    atomic.Int64          // the tables have all rows up to this commit
	failing atomic.Bool           // the last try failed
	broken  atomic.Pointer[error] // why nothing may be written any more
	failed  func(error)           // told of that
	// poisoned reports that somebody else has found why nothing may be written any more.
	poisoned func() bool
}

// Pauses between tries to write a layer.
const (
	leastPause = 20 * time.Millisecond
	mostPause  = time.Second
)

func newFlusher(conn *sqldoc.Conn, r *reserve, s settings, written int64, failed func(error)) *flusher {
	f := &flusher{
		conn: conn, log: newCheckpointer(conn, s), reserve: r, failed: failed,
		work: make(chan *writebehind.Frozen, 1), tried: make(chan bool, 2),
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	f.upTo.Store(written)
	return f
}

func (f *flusher) run() {
	defer close(f.ended)
	for frozen := range f.work {
		if !f.flush(frozen) {
			return
		}
		f.tried <- true
	}
}

// flush writes a layer, again and again while the disk is full or can't be written. The
// layer's commits are durable in the journal meanwhile. It gives up, false, when the store
// is poisoned or closed.
func (f *flusher) flush(frozen *writebehind.Frozen) bool {
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		doubt, err := f.try(frozen)
		if err == nil {
			f.failing.Store(false)
			return true
		}
		if doubt {
			f.fail(err)
			return false
		}
		if f.poisoned() {
			return false
		}
		f.reserve.spendIfFull(err)
		if !f.failing.Swap(true) {
			f.tried <- false
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-f.stop:
			t.Stop()
			return false
		}
	}
}

// try writes a layer once. doubt says that nothing may be written any more: the transaction
// may become durable although it failed, or the tables are damaged or not what the layer says.
func (f *flusher) try(frozen *writebehind.Frozen) (doubt bool, err error) {
	if err := f.rows(frozen); err != nil {
		_ = f.conn.Exec("ROLLBACK") // SQLite may have rolled back already
		return syncFailed(err) || isDamage(err) || !lost(err), err
	}
	crashpoint.At("sqlite.flush", nil)
	err = frozen.Written(func() error {
		if f.poisoned() {
			return store.ErrClosed
		}
		return f.conn.Exec("COMMIT")
	})
	if errors.Is(err, store.ErrClosed) {
		_ = f.conn.Exec("ROLLBACK")
		return false, err
	}
	if err != nil {
		if doubt = !surelyNotCommitted(err); !doubt {
			_ = f.conn.Exec("ROLLBACK")
		}
		return doubt, err
	}
	crashpoint.At("sqlite.flushed", nil)
	f.upTo.Store(frozen.Last())
	if err := f.log.checkpoint(); syncFailed(err) {
		return true, err
	}
	return false, nil
}

// fail keeps the writer from syncing anything more, and has it poison the store.
func (f *flusher) fail(err error) {
	f.broken.Store(&err)
	f.failed(err)
}

// failure is why nothing may be written any more, nil if all is well.
func (f *flusher) failure() error {
	if err := f.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// rows writes the rows of a layer and the number of its last commit.
func (f *flusher) rows(frozen *writebehind.Frozen) error {
	if err := f.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	tx := f.conn.Begin(false)
	p := packing{conn: f.conn, tx: tx, packer: &f.packer}
	err := frozen.Rows(p.write)
	if err == nil {
		err = p.flush()
	}
	if err == nil {
		err = tx.WriteCounts()
	}
	tx.End()
	if err == nil {
		err = f.conn.Run("UPDATE journal SET written = $1", frozen.Last())
	}
	if err != nil {
		return fmt.Errorf("write rows of commits up to %d: %w", frozen.Last(), err)
	}
	return nil
}

// last writes one more layer, or none, and stops. Nothing is tried twice. It reports
// whether all is written.
func (f *flusher) last(writing bool, freeze func() *writebehind.Frozen) bool {
	close(f.stop)
	ok := !writing || f.await()
	if ok {
		if frozen := freeze(); frozen != nil {
			f.work <- frozen
			ok = f.await()
		}
	}
	close(f.work)
	<-f.ended
	return ok
}

// await waits for a layer that is being written; false if it could not be.
func (f *flusher) await() bool {
	for {
		select {
		case written := <-f.tried:
			if written {
				return true
			}
		case <-f.ended:
			return false
		}
	}
}
