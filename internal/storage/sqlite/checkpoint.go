package sqlite

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// checkpoint moves the write-ahead log's pages into the database when there are
// many. It runs between batches, since the log starts over only if all of it has
// been moved before the next write. Without space nothing is lost, the pages stay
// in the log; but a sync that fails here poisons like any other.
func (w *writer) checkpoint() {
	at, err := w.logged("NOOP")
	if err != nil {
		return // an unreadable log will fail the next transaction
	}
	if at.pending() >= w.checkpointAt {
		if at, err = w.logged("PASSIVE"); err != nil {
			w.noteSync(err)
			return
		}
		// A View may hold pages back, and space may be short: don't try again at
		// every batch.
		w.checkpointAt = at.pending() + w.checkpointPages
	}
	if at.pages >= w.startOverAt {
		w.startOver(at)
	}
}

// startOver has the log begin anew although Views are under way all the time: with
// each of them there is one that began before the last commit and needs pages of the
// log, so that one checkpoint between two batches is never whole. Here writing pauses:
// first the Views of before the last commit end, then those that began before all was
// in the database; whoever begins later needs no log. Views begin as ever. One that
// takes longer than startOverPause is left alone, and the log grows to twice its size
// before the next try, so that a backup of an hour costs a few pauses and not
// thousands.
func (w *writer) startOver(at logged) {
	w.startOverAt = 2 * at.pages
	if err := w.busyTimeout(0); err != nil {
		return
	}
	until := time.Now().Add(w.startOverPause)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		after, err := w.logged("RESTART")
		if w.noteSync(err); err != nil {
			break
		}
		if !after.busy {
			w.startOverAt = 2 * w.checkpointPages
			break
		}
		if time.Now().After(until) {
			break
		}
		time.Sleep(pause)
	}
	_ = w.busyTimeout(busyTimeout) // no other process writes: it is never needed
}

// busyTimeout sets how long SQLite itself waits for locks. Not at all where readers
// come and go: it would wait for one place of theirs to be free, and they share it.
func (w *writer) busyTimeout(d time.Duration) error {
	return w.conn.Exec("PRAGMA busy_timeout(" + strconv.FormatInt(d.Milliseconds(), 10) + ")")
}

// noteSync poisons the store after a sync that failed.
func (w *writer) noteSync(err error) {
	if syncFailed(err) {
		w.poison(err)
	}
}

// finish empties the log at the end. What it can't move is safe in the log.
func (w *writer) finish() error {
	if w.poisoned() {
		return nil
	}
	_, err := w.logged("TRUNCATE")
	if syncFailed(err) {
		close(w.failed) // and not poison: others may read the reason by now
	}
	if err != nil {
		return fmt.Errorf("checkpoint at close: %w", err)
	}
	return nil
}

// logged is how much is in the log, in pages.
type logged struct {
	pages int
	moved int  // of them into the database
	busy  bool // the checkpoint could not do all that its kind does
}

func (l logged) pending() int { return l.pages - l.moved }

// logged runs a checkpoint of a kind and returns what the log is then.
func (w *writer) logged(kind string) (l logged, err error) {
	var busy int
	crashpoint.At("sqlite.checkpoint", kind)
	err = w.conn.QueryRow("PRAGMA wal_checkpoint("+kind+")", &busy, &l.pages, &l.moved)
	crashpoint.At("sqlite.checkpointed", kind)
	l.busy = busy != 0
	return l, err
}
