package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// lookEvery is how many times, within the time that a batch may lie idle, who waits
// for the writer's row looks at who holds it.
const lookEvery = 4

// holder is a transaction that has the writer's row while the server waits for its
// client, as a look saw it.
type holder struct {
	id    string // of the session, its transaction and what it did last; "": none was seen
	since string // when it was first seen so, by the server's clock in seconds
}

// take runs a message that begins a transaction and takes the writer's row. The server
// doesn't end every holder whose client has fallen silent: its timeouts don't run once
// the statements of a message have arrived and the end of the message has not, nor
// while it can't send an answer. So who waits ends such a holder, after the time that
// the server lets one lie idle. It looks on another connection: the one that waits
// keeps its place in the server's queue.
func (w *writer) take(s *session, message string) ([]string, error) {
	stop := w.watch()
	row, err := s.run(message)
	unseen := stop()
	if gaveUp := code(err) == lockTimeout || code(err) == canceled; !gaveUp {
		return row, err
	}
	if unseen != nil && !s.lost() { // where there is no second connection, each wait that was in vain ends with one look
		if _, unseen = s.run("ROLLBACK"); unseen == nil {
			unseen = w.endSilent(context.Background(), s)
		}
	}
	return nil, errors.Join(err, unseen)
}

// watch looks at who holds the writer's row until it is stopped, and not at all where
// the wait is as short as it mostly is. stop gives the reason why nobody could be seen.
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

// looks looks, on a connection of its own, which it closes.
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

// endSilent looks at who has the writer's row, and ends it if nothing of it has moved
// between two looks that are so far apart: many short statements move it, however long
// they take together. The server waits for the client all the while, so the transaction
// is not within a commit: that one is never ended. Where the server doesn't track what
// sessions do, a transaction counts as one that doesn't move. All times are the
// server's. The error says why nobody could be seen or ended; who waits goes on waiting.
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

// looking is how long a batch waits for the writer's row before somebody looks at who
// has it, and how far apart the looks are.
func (s settings) looking() time.Duration { return min(s.lock, s.idle/lookEvery) }
