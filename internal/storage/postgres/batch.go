package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// maxBatch bounds how many Updates share a commit, and so how long the first of
// them waits for the last and how long a batch keeps other processes waiting.
const maxBatch = 128

// serve runs first, and every Update that is waiting by then, in one transaction. Each is
// answered after the commit, also one that failed: it may have failed because of what an
// earlier Update of the batch wrote.
func (w *writer) serve(first *turns.Request) {
	w.crowd = len(w.members)
	w.members, w.took = append(w.members[:0], first), 0
	err := w.tries()
	for _, r := range w.members {
		if err != nil {
			r.Answer(err)
		} else {
			r.Answer(r.Err())
		}
	}
	if err != nil {
		w.refuse(unavailable(err))
	}
}

// refuse answers all waiting Updates with err: each would have to wait as long again.
func (w *writer) refuse(err error) {
	for r := w.next(); r != nil; r = w.next() {
		r.Answer(err)
	}
}

// tries runs the batch again until it is committed, at most for settings.patience. Unless
// the error is store.ErrInDoubt, nothing was changed.
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

// notice records a condition that lasts: a full disk or a missing right.
func (w *writer) notice(err error) {
	switch senseOf(err) {
	case full:
		w.full.Store(true)
	case denied:
		w.denied.Store(true)
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

// errUndone is the error of a batch that was rolled back instead of committed.
var errUndone = fmt.Errorf("%w before its transaction was committed", errLost)

// try runs the batch once.
func (w *writer) try(until time.Time) error {
	s, err := w.connected(until)
	if err != nil {
		return err
	}
	a, err := attempted{}, errOvertaken
	ahead, alone := w.mayRunAhead(), w.alone
	w.alone = 0 // until it is known again
	if ahead {
		a, err = w.ahead(s)
	}
	if errors.Is(err, errOvertaken) {
		w.contended = w.contended || ahead
		if w.rollBack(); w.session == nil {
			return errUndone
		}
		a, err = w.attempt(s, false)
	}
	if errors.Is(err, batches.ErrNeedsSavepoint) {
		if w.rollBack(); w.session == nil {
			return errUndone
		}
		a, err = w.attempt(s, true)
	}
	if err != nil {
		w.giveUp(err)
		return err
	}
	if a.empty {
		w.rollBack()
	} else if err := w.settle(a); err != nil {
		return err
	}
	if a.alone {
		w.alone = alone + 1
	}
	if a.empty {
		return nil
	}
	a.batch.Committed()
	w.last, w.at, w.outdated = a.place, time.Now(), false
	w.full.Store(false)
	w.commits.Add(1)
	if w.denied.Load() && s.mayWrite() { // a commit of some tables says nothing of the others
		w.denied.Store(false)
	}
	return nil
}

// settle returns nil if the batch is committed. If no answer came to its COMMIT, it finds
// out whether it is.
func (w *writer) settle(a attempted) error {
	done, err := a.outcome == committed, error(nil)
	if a.outcome == unknown {
		done, err = w.find()
	}
	switch {
	case err != nil:
		w.fail(err)
		return fmt.Errorf("%w: %s", store.ErrInDoubt, err.Error()) // err speaks of what was tried, not of what became of the batch
	case !done:
		return errUndone
	}
	crashpoint.At("postgres.committed", nil)
	return nil
}

// attempted is a batch whose transaction was run.
type attempted struct {
	batch   *batches.Batch
	place   inTurn
	alone   bool // nobody else wrote since the batch before
	empty   bool // nobody wrote, and no COMMIT was sent
	outcome outcome
}

// inTurn is a batch's position in the order of all batches.
type inTurn struct {
	turn  int64 // of all processes
	batch int64 // of this one
}

// attempt runs the batch and sends its writes with a COMMIT. If err is not nil, the
// transaction is still open and must be rolled back.
func (w *writer) attempt(s *session, apart bool) (a attempted, err error) {
	w.batch++
	var d *draft
	if !apart {
		d = w.newDraft(s)
	}
	before, changed, hot, err := w.begin(s, d)
	if err != nil {
		w.cache.AskNothing() // if what is asked for in advance can't be read, no batch would ever begin
		return a, err
	}
	a.alone = before == w.last
	w.contended = !a.alone
	if apart {
		w.cache.Clear() // if what it says were wrong, no batch would ever succeed
	}
	a.place = inTurn{before.turn + 1, w.batch}
	a.batch = batches.New(s.conn, &transaction{session: s, writer: w}, w.cache, apart)
	if before != w.last { // others have written, or the database has lost what we had
		w.outdated = true // until this batch is committed: by then the database can't lose what is read here
		if err := a.batch.Recall(changed, hot); err != nil {
			w.cache.AskNothing() // it would be asked for in advance from now on
			return a, err
		}
	} else {
		w.cache.Cool()
	}
	if err := w.runAll(a.batch, d, 0); err != nil {
		return a, err
	}
	if a.empty = !w.anybodyWrote(); a.empty {
		return a, nil
	}
	crashpoint.At("postgres.commit", nil)
	err = a.batch.Finish(func(writes []sqldoc.Write) error {
		var err error
		if a.outcome, err = s.commit(nil, writes, note(a.place.turn, a.batch.Changed())); a.outcome == failed {
			return err
		}
		return nil // settle finds out what became of an unknown one
	})
	return a, err
}

// begin begins the transaction and returns which batch was the last, and what others have
// changed since ours, nil if that isn't known. hot are the answers to Conn.Hot. While it waits
// for the lock, functions run in the draft, if there is one.
func (w *writer) begin(s *session, d *draft) (before inTurn, changed []batches.Sum, hot [][]any, err error) {
	var rows [][]any
	asked := slices.Concat(w.beginning(s), w.cache.Hot(s.conn))
	err = d.during(func() error {
		return w.watched(s, func() error {
			var err error
			rows, err = askTogether(s.pinned, asked)
			return s.mean(err)
		})
	})
	if err != nil {
		return before, nil, nil, err
	}
	row := slices.Concat(rows[2:beginnings]...)
	crashpoint.At("postgres.begun", nil)
	if before, err = w.check(row); err == nil {
		changed, err = w.missed(before, row)
	}
	return before, changed, rows[beginnings:], err
}

// beginning waits for this process's turn to write and stores the batch's number. The
// writer's row is updated and not only locked, so that a database which takes its snapshot
// before it waits reports a conflict. Afterwards each statement sees the newest state. The
// answers have the level and the number of the last turn, then the number of our last batch
// and what the turns since ours have changed.
func (w *writer) beginning(s *session) []sqldoc.Call {
	return []sqldoc.Call{
		{Text: beginBatch.text},
		{Text: s.locals.statement().text},
		{Text: take},
		{Text: enter, Args: []any{w.id, w.batch, w.last.turn}},
	}
}

// beginnings are the statements of beginning.
const beginnings = 4

var beginBatch = change{text: "BEGIN ISOLATION LEVEL READ COMMITTED"}

const take = "UPDATE countersign_writer SET turn = turn + 1 WHERE id = " + writerRow + " RETURNING level, turn - 1"

var enter = "WITH noted AS (INSERT INTO countersign_batches AS kept (writer, batch, at) VALUES ($1, $2, now())" +
	" ON CONFLICT (writer) DO UPDATE SET batch = excluded.batch, at = excluded.at)" +
	" SELECT COALESCE((SELECT batch FROM countersign_batches WHERE writer = $1), 0), " + changedSince("$3")

// check reads the answer to beginning. It ends all writing if a newer release has raised
// the level.
func (w *writer) check(row []any) (at inTurn, err error) {
	if len(row) != 5 {
		return at, fmt.Errorf("countersign_writer has no row %s: restore the store from a backup", writerRow)
	}
	if needed, isNumber := row[0].(int64); !isNumber || needed > level {
		w.fail(fmt.Errorf("the store was taken over by a newer release (level %v; this one knows %d)", row[0], level))
		return at, w.reason
	}
	at.turn, _ = row[1].(int64)
	at.batch, _ = row[2].(int64)
	return at, nil
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
	if err != nil {
		return nil, err
	}
	pins, err := s.pins()
	if err != nil {
		s.release(false)
		return nil, err
	}
	s.locals = append(w.settings.writing(), pins...)
	w.session = s
	return s, nil
}

// giveUp undoes what was begun. It keeps the connection only after a collision; after any
// other error the connection may be broken.
func (w *writer) giveUp(err error) {
	if isCollision(code(err)) {
		w.rollBack()
	} else {
		w.disconnect()
	}
}

func (w *writer) rollBack() {
	if w.session.wire.TxStatus() == 'I' {
		return // it has not begun
	}
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
