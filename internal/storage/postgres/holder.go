package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// checksPerIdle is how many times within settings.idle a batch that waits for the
// writer's row checks the session that holds it.
const checksPerIdle = 4

// holder is a transaction that holds the writer's row while the server waits for its
// client, as it was last seen.
type holder struct {
	// id names the session, its transaction and the time of its last statement; "" if no
	// holder was found.
	id    string
	since string // when this id was first seen: seconds of the server's clock
}

// take runs a message that begins a transaction and locks the writer's row. The server
// doesn't end every holder whose client is silent: its timeouts don't run while it waits
// for the rest of a message whose first statements it has executed, nor while it can't
// send an answer. So the process that waits ends such a holder, after settings.idle. It
// checks the holder on another connection, so that the waiting one stays in the server's
// queue.
func (w *writer) take(s *session, message string) (row []string, err error) {
	err = w.watched(s, func() error {
		row, err = s.run(message)
		return err
	})
	return row, err
}

// watched has the holder checked while do waits for the writer's row.
func (w *writer) watched(s *session, do func() error) error {
	stop := w.watch()
	err := do()
	checkErr := stop()
	if gaveUp := code(err) == lockTimeout || code(err) == canceled; !gaveUp {
		return err
	}
	if checkErr != nil && !s.lost() { // no second connection could be opened: check once on this one
		if _, checkErr = s.run("ROLLBACK"); checkErr == nil {
			checkErr = w.endSilent(context.Background(), s)
		}
	}
	return errors.Join(err, checkErr)
}

// watch checks the holder of the writer's row until stop is called. Most waits are short
// and end before the first check. stop returns the error that prevented the checks.
func (w *writer) watch() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended, pause := make(chan error, 1), w.settings.checkInterval()
	first := time.AfterFunc(pause, func() { ended <- w.checkHolder(ctx, pause) })
	return func() error {
		cancel()
		if first.Stop() {
			return nil
		}
		return <-ended
	}
}

// checkHolder checks the holder every pause, on a connection of its own, which it closes.
func (w *writer) checkHolder(ctx context.Context, pause time.Duration) error {
	db := w.second()
	defer func() { _ = db.Close() }()
	s, err := connect(ctx, db)
	if err != nil {
		return err
	}
	defer s.cut()
	for {
		if err := w.endSilent(ctx, s); err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// endSilent checks the session that holds the writer's row, and ends it if it has made no
// progress since a check settings.idle ago or earlier. Each statement counts as progress,
// however long a batch of them takes. Only a session that waits for its client is ended,
// so never one amid a COMMIT. If the server doesn't track what sessions do, no progress is
// seen. All times are the server's. The error says why the holder could not be checked or
// ended; the caller goes on waiting.
func (w *writer) endSilent(ctx context.Context, s *session) error {
	seen := &w.seen
	still := fmt.Sprintf("h.id = '%s' AND h.now - %s >= %f", seen.id, cmp.Or(seen.since, "0"), w.settings.idle.Seconds())
	row, err := s.runIn(ctx, "SELECT h.id, h.now, CASE WHEN "+still+" THEN pg_terminate_backend(h.pid) END FROM (SELECT a.pid, extract(epoch FROM clock_timestamp()) AS now,"+
		" concat_ws('/', a.pid, a.backend_xid, extract(epoch FROM a.state_change)) AS id"+
		" FROM countersign_writer w JOIN pg_stat_activity a ON a.backend_xid = w.xmax"+
		" WHERE w.id = "+writerRow+" AND a.wait_event_type = 'Client') h")
	switch {
	case err != nil:
		return fmt.Errorf("the session that holds the store could not be ended (it must be of the same role): %w", err)
	case len(row) == 0:
		*seen = holder{}
	case row[0] != seen.id:
		*seen = holder{row[0], row[1]}
	}
	return nil
}

// checkInterval is how long a batch waits for the writer's row before the first check of
// the holder, and the time between checks.
func (s settings) checkInterval() time.Duration { return min(s.lock, s.idle/checksPerIdle) }
