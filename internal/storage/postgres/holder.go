package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// lookEvery is how many times, within settings.idle, a batch that waits for the writer's
// row looks at the session that holds it.
const lookEvery = 4

// holder is a transaction that holds the writer's row while the server waits for its
// client, as it was last seen.
type holder struct {
	id    string // of the session, its transaction and the time of its last statement; "": none was seen
	since string // when it was first seen so, by the server's clock in seconds
}

// take runs a message that begins a transaction and locks the writer's row. The server
// doesn't end every holder whose client is silent: its timeouts don't run after it has
// received the statements of a message without the end of the message, nor while it can't
// send an answer. So the process that waits ends such a holder, after settings.idle. It
// checks the holder on another connection, so that the waiting one stays in the server's
// queue.
func (w *writer) take(s *session, message string) ([]string, error) {
	stop := w.watch()
	row, err := s.run(message)
	unseen := stop()
	if gaveUp := code(err) == lockTimeout || code(err) == canceled; !gaveUp {
		return row, err
	}
	if unseen != nil && !s.lost() { // without a second connection each failed wait ends with one check
		if _, unseen = s.run("ROLLBACK"); unseen == nil {
			unseen = w.endSilent(context.Background(), s)
		}
	}
	return nil, errors.Join(err, unseen)
}

// watch checks the holder of the writer's row until it is stopped; a wait as short as most
// ends before the first check. stop returns the error that kept it from checking.
func (w *writer) watch() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended, pause := make(chan error, 1), w.settings.looking()
	first := time.AfterFunc(pause, func() { ended <- w.looks(ctx, pause) })
	return func() error {
		cancel()
		if first.Stop() {
			return nil
		}
		return <-ended
	}
}

// looks checks the holder again and again, on a connection of its own, which it closes.
func (w *writer) looks(ctx context.Context, pause time.Duration) error {
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
// however long a batch of them takes. The session is one that waits for its client, so it
// is not within a COMMIT; such a session is never ended. If the server doesn't track what
// sessions do, a session counts as one without progress. All times are the server's. The
// error says why the holder could not be seen or ended; the caller goes on waiting.
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

// looking is how long a batch waits for the writer's row before the first check of the
// holder, and the time between checks.
func (s settings) looking() time.Duration { return min(s.lock, s.idle/lookEvery) }
