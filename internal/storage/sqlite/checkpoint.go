package sqlite

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// checkpoint copies the pages of the write-ahead log into the database once checkpointAt
// of them are not copied yet. It runs between batches, since SQLite restarts the log only if all of it was
// copied before the next write. On a full disk the pages stay in the log and nothing is
// lost; a failed sync poisons the store.
func (w *writer) checkpoint() {
	at, err := w.runCheckpoint("NOOP")
	if err != nil {
		return // an unreadable log will fail the next transaction
	}
	if at.pending() >= w.checkpointAt {
		if at, err = w.runCheckpoint("PASSIVE"); err != nil {
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
// batches is complete. So writing pauses twice: until all Views that began before the last
// commit have ended, so that every page can be copied; and until all Views that began
// before that copy was complete have ended. Views that begin later don't need the log. New Views may begin throughout. If a View
// takes longer than startOverPause, startOver gives up until the log has doubled: a backup of an hour then costs a few pauses instead of thousands.
func (w *writer) startOver(at logState) {
	w.startOverAt = 2 * at.pages
	if err := w.busyTimeout(0); err != nil {
		return
	}
	until := time.Now().Add(w.startOverPause)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		after, err := w.runCheckpoint("RESTART")
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
	_ = w.busyTimeout(busyTimeout) // an error changes nothing: no other process writes, so no lock is waited for
}

// busyTimeout sets how long SQLite waits for locks. startOver sets it to
// zero: readers that overlap share one lock, which may never be free.
func (w *writer) busyTimeout(d time.Duration) error {
	return w.conn.Exec("PRAGMA busy_timeout(" + strconv.FormatInt(d.Milliseconds(), 10) + ")")
}

// noteSync poisons the store if err is a failed sync.
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
	_, err := w.runCheckpoint("TRUNCATE")
	if syncFailed(err) {
		close(w.failed) // not poison(): it would write w.reason, which others may be reading
	}
	if err != nil {
		return fmt.Errorf("checkpoint at close: %w", err)
	}
	return nil
}

// logState is the size of the log after a checkpoint, in pages.
type logState struct {
	pages  int
	copied int  // how many of them are in the database
	busy   bool // a reader or writer kept the checkpoint from doing all that its kind does
}

func (l logState) pending() int { return l.pages - l.copied }

// runCheckpoint runs a checkpoint of a kind (NOOP, PASSIVE, RESTART, TRUNCATE) and
// returns the size of the log after it.
func (w *writer) runCheckpoint(kind string) (l logState, err error) {
	var busy int
	crashpoint.At("sqlite.checkpoint", kind)
	err = w.conn.QueryRow("PRAGMA wal_checkpoint("+kind+")", &busy, &l.pages, &l.copied)
	crashpoint.At("sqlite.checkpointed", kind)
	l.busy = busy != 0
	return l, err
}
