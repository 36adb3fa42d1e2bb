package sqlite

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// checkpoint copies the pages of the write-ahead log into the database once there are
// many. It runs between batches, since SQLite restarts the log only if all of it was
// copied before the next write. On a full disk the pages stay in the log and nothing is
// lost; a failed sync poisons the store.
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
		// A View may need older pages, or the disk may be full: don't retry after
		// every batch.
		w.checkpointAt = at.pending() + w.checkpointPages
	}
	if at.pages >= w.startOverAt {
		w.startOver(at)
	}
}

// startOver restarts the log while Views overlap all the time. At any moment some View
// began before the last commit and needs pages of the log, so no checkpoint between two
// batches is complete. So writing pauses: first until the Views that began before the
// last commit have ended, then until those have ended that began before every page was in
// the database; later Views don't need the log. New Views may begin throughout. If a View
// takes longer than startOverPause, startOver gives up, and the log must double before the
// next try: a backup of an hour then costs a few pauses instead of thousands.
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

// busyTimeout sets how long SQLite waits for locks. While readers overlap it must not
// wait: they share one lock, which may never be free.
func (w *writer) busyTimeout(d time.Duration) error {
	return w.conn.Exec("PRAGMA busy_timeout(" + strconv.FormatInt(d.Milliseconds(), 10) + ")")
}

// noteSync poisons the store after a sync that failed.
func (w *writer) noteSync(err error) {
	if syncFailed(err) {
		w.poison(err)
	}
}

// finish empties the log when the store closes. Pages that it can't copy are safe in the
// log.
func (w *writer) finish() error {
	if w.poisoned() {
		return nil
	}
	_, err := w.logged("TRUNCATE")
	if syncFailed(err) {
		close(w.failed) // not poison, which would write reason while others may read it
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
