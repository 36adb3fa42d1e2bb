package postgres

import (
	"errors"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// As long as no other process writes, a batch's functions run before it has the lock, on the
// rows of the cache: those of the last batch of all, if its turn is still the last one when
// the lock is taken. That is checked in the message that takes it: before the first
// statement of a function that asks the database, otherwise together with the writes and the
// COMMIT. If others have written, all functions run again under the lock.

// mayRunAhead reports that others probably don't write. If they do, the batch waits for the lock
// twice: the second time after it has lost it.
func (w *writer) mayRunAhead() bool {
	return w.alone >= w.settings.aheadAfter && time.Since(w.at) < w.settings.aheadFor
}

// errOvertaken says that others have written since the batch that the cache is of.
var errOvertaken = errors.New("others have written meanwhile")

// ahead runs the batch before it has the lock. After errOvertaken nothing has been changed.
func (w *writer) ahead(s *session) (a attempted, err error) {
	w.batch++
	w.cache.Cool()
	a.place, a.alone = inTurn{w.last.turn + 1, w.batch}, true
	t := &transaction{session: s, writer: w, waits: true}
	s.conn.BeforeUse(t.begin)
	defer s.conn.BeforeUse(nil)
	a.batch = batches.New(s.conn, t, w.cache, false)
	linger := time.Duration(0)
	if w.crowd > 1 {
		linger = w.settings.linger
	}
	if err := w.runAll(a.batch, nil, linger); err != nil {
		return a, err
	}
	if a.empty = !w.anybodyWrote(); a.empty {
		return a, t.begin() // what a function has refused, it has refused by these rows
	}
	crashpoint.At("postgres.commit", nil)
	err = a.batch.Finish(func(writes []sqldoc.Write) (err error) {
		if t.waits {
			a.outcome, err = w.commitAhead(s, writes, note(a.place.turn, a.batch.Changed()))
		} else {
			a.outcome, err = s.commit(nil, writes, note(a.place.turn, a.batch.Changed()))
		}
		switch a.outcome {
		case notBegun:
			return t.note(err)
		case failed:
			return err
		}
		return nil // settle finds out what became of an unknown one
	})
	return a, err
}

// begin takes the lock, unless the batch has it.
func (t *transaction) begin() error {
	if !t.waits {
		return t.broken
	}
	t.waits = false
	before, _, _, err := t.writer.begin(t.session, nil)
	if err == nil && before != t.writer.last {
		err = errOvertaken
	}
	return t.note(err)
}

// note keeps an error by which the transaction could not begin: it ends the batch, whatever
// its function makes of it.
func (t *transaction) note(err error) error {
	t.broken = err
	return err
}

// commitAhead takes the lock, makes the writes and commits, in one message.
func (w *writer) commitAhead(s *session, writes []sqldoc.Write, noted call) (o outcome, err error) {
	err = w.watched(s, func() error {
		o, err = s.commit(w.lockIf(s), writes, noted)
		return err
	})
	if o == notBegun && code(err) == divisionByZero {
		err = errOvertaken
	}
	return o, err
}

// lockIf is the statements that begin a transaction and take the lock if the last batch of
// all is this writer's. They store the batch's number.
func (w *writer) lockIf(s *session) []call {
	return []call{
		{change: beginBatch},
		{change: s.locals.statement()},
		{change: lockIf, values: [][]byte{integer(w.last.turn), integer(level), integer(w.batch), []byte(w.id), integer(w.last.batch)}},
	}
}

var lockIf = change{
	name: "countersign_lock",
	text: "WITH turned AS (UPDATE countersign_writer SET turn = turn + 1 WHERE id = " + writerRow + " AND turn = $1 AND level <= $2 RETURNING 1)," +
		" noted AS (UPDATE countersign_batches SET batch = $3, at = now() WHERE writer = $4 AND batch = $5 RETURNING 1)" +
		" SELECT 1 / (CASE WHEN EXISTS (SELECT 1 FROM turned) AND EXISTS (SELECT 1 FROM noted) THEN 1 ELSE 0 END)",
	oids: []uint32{oidInteger, oidInteger, oidInteger, oidText, oidInteger},
}
