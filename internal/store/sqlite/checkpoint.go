package sqlite

import (
	"fmt"

	"github.com/countersign/countersign/internal/crashpoint"
)

// checkpoint moves the write-ahead log's pages into the database when there are
// many. It runs between batches, since the log starts over only if all of it has
// been moved before the next write. Without space nothing is lost, the pages stay
// in the log; but a sync that fails here poisons like any other.
func (w *writer) checkpoint() {
	pending, err := w.pending("NOOP")
	if err != nil || pending < w.checkpointAt {
		return // an unreadable log will fail the next transaction
	}
	pending, err = w.pending("PASSIVE")
	if syncFailed(err) {
		w.poison(err)
		return
	}
	// A View may hold pages back, and space may be short: don't try again at
	// every batch.
	w.checkpointAt = pending + w.checkpointPages
}

// finish empties the log at the end. What it can't move is safe in the log.
func (w *writer) finish() error {
	if w.poisoned() {
		return nil
	}
	_, err := w.pending("TRUNCATE")
	if syncFailed(err) {
		close(w.failed) // and not poison: others may read the reason by now
	}
	if err != nil {
		return fmt.Errorf("checkpoint at close: %w", err)
	}
	return nil
}

// pending runs a checkpoint of a kind and returns how many pages are left.
func (w *writer) pending(kind string) (int, error) {
	var busy, logged, moved int
	crashpoint.At("sqlite.checkpoint", kind)
	err := w.conn.QueryRow("PRAGMA wal_checkpoint("+kind+")", &busy, &logged, &moved)
	crashpoint.At("sqlite.checkpointed", kind)
	return logged - moved, err
}
