package postgres

import (
	"errors"
	"fmt"
	"time"
)

// lookEvery is how many times, within the time that a batch may lie idle, who waits
// for the writer's row looks at who holds it.
const lookEvery = 4

// holder is a transaction that has the writer's row while the server waits for its
// client.
type holder struct {
	id    string // of the transaction; "": none was seen
	since time.Time
}

// take runs a message that begins a transaction and takes the writer's row. The server
// doesn't end every holder whose client has fallen silent: its timeouts don't run once
// the statements of a message have arrived and the end of the message has not, nor
// while it can't send an answer. So who waits ends such a holder, after the time that
// the server lets one lie idle.
func (w *writer) take(s *session, message string) ([]string, error) {
	until := time.Now().Add(w.settings.lock)
	var seen holder
	for {
		row, err := s.run(message)
		if code(err) != lockTimeout {
			return row, err
		}
		unseen := w.endSilent(s, &seen)
		if s.lost() {
			return nil, unseen
		}
		if !time.Now().Before(until) {
			return nil, errors.Join(err, unseen)
		}
	}
}

// endSilent looks at who has the writer's row, and ends it once it has had it for too
// long. The server waits for the client all the while, so the transaction is not
// within a commit: that one is never ended. The error says why nobody could be seen
// or ended; who waits goes on waiting.
func (w *writer) endSilent(s *session, seen *holder) error {
	due := ""
	if time.Since(seen.since) >= w.settings.idle {
		due = seen.id
	}
	row, err := s.run("ROLLBACK; SELECT a.backend_xid::text, CASE WHEN a.backend_xid::text = '" + due + "' THEN pg_terminate_backend(a.pid) END" +
		" FROM countersign_writer w JOIN pg_stat_activity a ON a.backend_xid = w.xmax" +
		" WHERE w.id = " + writerRow + " AND a.wait_event_type = 'Client'")
	switch {
	case err != nil:
		return fmt.Errorf("the session that holds the store could not be ended (it must be of the same role): %w", err)
	case len(row) == 0:
		*seen = holder{}
	case row[0] != seen.id:
		*seen = holder{row[0], time.Now()}
	}
	return nil
}

// waiting is how long the server lets a batch wait for the writer's row before the
// batch looks at who has it.
func (s settings) waiting() time.Duration { return min(s.lock, s.idle/lookEvery) }
