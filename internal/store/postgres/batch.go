package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/crashpoint"
)

// maxBatch bounds how many Updates share a commit, and so how long the first of
// them waits for the last and how long a batch keeps other processes waiting.
const maxBatch = 64

// serve runs first and whoever waits by then in one transaction. Nobody is
// answered before it is committed: not even who failed, since it may have failed
// because of what an earlier one wrote.
func (w *writer) serve(first *request) {
	w.members = append(w.members[:0], first)
	err := w.tries()
	for _, r := range w.members {
		if err != nil {
			r.err = err
		}
		r.answer(r.err)
	}
	if err != nil {
		w.refuse(unavailable(err))
	}
}

// refuse answers those who wait: each of them would have to wait as long again.
func (w *writer) refuse(err error) {
	for r := w.next(); r != nil; r = w.next() {
		r.answer(err)
	}
}

// tries runs the batch until it is committed, for as long as there is patience.
// An error says that nothing was changed, unless it is ErrDoubt.
func (w *writer) tries() error {
	until := time.Now().Add(w.settings.patience)
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		err := w.try(until)
		if err == nil || w.reason != nil {
			return err
		}
		w.notice(err)
		if !passes(err) || time.Now().After(until) || !w.pause(pause) {
			return unavailable(err)
		}
	}
}

// notice draws from an error what outlasts it.
func (w *writer) notice(err error) {
	if code(err) == diskFull {
		w.full.Store(true)
	}
	w.onError(err)
}

// pause waits; false when the store is being closed.
func (w *writer) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.closing:
		return false
	}
}

// errUndone: what the COMMIT should have made durable was rolled back instead.
var errUndone = fmt.Errorf("%w before its transaction was committed", errLost)

// try runs the batch once.
func (w *writer) try(until time.Time) error {
	s, err := w.connected(until)
	if err != nil {
		return err
	}
	if err := w.attempt(s); err != nil {
		w.giveUp(err)
		return err
	}
	if !w.anybodyWrote() {
		w.rollBack()
		return nil
	}
	crashpoint.At("postgres.commit", nil)
	committed, err := s.commit()
	if err != nil {
		committed, err = w.find()
	}
	switch {
	case err != nil:
		w.fail(err)
		return fmt.Errorf("%w: %s", ErrDoubt, err.Error()) // err speaks of what was tried, not of what became of the batch
	case !committed:
		return errUndone
	}
	crashpoint.At("postgres.committed", nil)
	w.full.Store(false)
	w.commits.Add(1)
	return nil
}

// attempt does everything but the COMMIT.
func (w *writer) attempt(s *session) error {
	w.batch++
	row, err := s.run(w.beginning())
	if err != nil {
		return err
	}
	crashpoint.At("postgres.begun", nil)
	if err := w.checkLevel(row); err != nil {
		return err
	}
	return w.lendToAll(s)
}

// beginning takes the turn among all processes and leaves the batch's number. That
// the writer's row is changed and not just locked lets also a database notice that
// takes its snapshot before it waits. Afterwards each statement sees what is newest.
func (w *writer) beginning() string {
	return "BEGIN ISOLATION LEVEL READ COMMITTED; " +
		limits(true, w.settings.statement, w.settings.lock, w.settings.idle) +
		"; UPDATE countersign_writer SET turn = turn + 1 WHERE id = " + writerRow + " RETURNING level" +
		"; INSERT INTO countersign_batches (writer, batch, at) VALUES ('" + w.id + "', " + strconv.FormatInt(w.batch, 10) + ", now())" +
		" ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at" +
		"; SAVEPOINT turn"
}

// checkLevel ends all writing when a newer release has made the database its own.
func (w *writer) checkLevel(row []string) error {
	if len(row) != 1 {
		return fmt.Errorf("countersign_writer has no row %s: restore the store from a backup", writerRow)
	}
	if needed, err := strconv.ParseInt(row[0], 10, 64); err != nil || needed > level {
		w.fail(fmt.Errorf("the store was taken over by a newer release (level %s; this one knows %d)", row[0], level))
		return w.reason
	}
	return nil
}

// connected returns the connection that writes.
func (w *writer) connected(until time.Time) (*session, error) {
	if w.session != nil && !w.session.lost() {
		return w.session, nil
	}
	w.disconnect()
	ctx, cancel := context.WithDeadline(context.Background(), until.Add(w.settings.connect))
	defer cancel()
	s, err := connect(ctx, w.db)
	if err == nil {
		w.session = s
	}
	return s, err
}

// giveUp undoes what was begun. Only after a collision is the connection known to
// be good.
func (w *writer) giveUp(err error) {
	if isCollision(code(err)) {
		w.rollBack()
	} else {
		w.disconnect()
	}
}

func (w *writer) rollBack() {
	if _, err := w.session.run("ROLLBACK"); err != nil {
		w.disconnect()
	}
}

func (w *writer) disconnect() {
	if w.session != nil {
		w.session.release(false)
		w.session = nil
	}
}
