package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// views runs a limited number of Views at once, on connections of their own.
type views struct {
	settings settings
	db       *sql.DB
	onError  func(error)
	turns    chan struct{} // as many as there are connections
	closing  chan struct{}
}

func newViews(db *database) *views {
	v := &views{
		settings: db.settings,
		db:       db.pool(db.settings.readers),
		onError:  db.learn,
		turns:    make(chan struct{}, db.settings.readers),
		closing:  make(chan struct{}),
	}
	v.db.SetConnMaxIdleTime(5 * time.Minute)
	return v
}

// view runs fn in one snapshot, and again in another if its connection is lost or a row
// that it read before the snapshot has changed.
func (v *views) view(ctx context.Context, fn func(store.Tx) error) error {
	// The time counts from here, the wait for a turn included: without a server each View
	// would otherwise wait in turn.
	until := time.Now().Add(v.settings.patience)
	if err := v.enter(ctx); err != nil {
		return err
	}
	leave := func() { <-v.turns }
	defer func() { leave() }()
	snapshot := false
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		own, open, err := v.try(ctx, fn, until, snapshot)
		if err == nil {
			if open != nil {
				leave = func() { go v.end(open) }
			}
			return own
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		v.onError(err)
		if errors.Is(err, sqldoc.ErrFirstReadChanged) {
			snapshot = true
			continue
		}
		if !passes(err) || time.Now().After(until) {
			return err
		}
		if err := v.pause(ctx, pause); err != nil {
			return err
		}
	}
}

func (v *views) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-v.closing:
		return errClosed
	default:
	}
	select {
	case v.turns <- struct{}{}:
		return nil
	case <-v.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *views) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-v.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try runs fn once, in a snapshot from the beginning or from its second read on. own is
// fn's error; if err, the transaction's error, is not nil, own has no meaning. open is the
// session if its transaction is still to be ended.
func (v *views) try(ctx context.Context, fn func(store.Tx) error, until time.Time, snapshot bool) (own error, open *session, err error) {
	connecting, cancel := context.WithTimeout(ctx, max(time.Until(until), 0)+v.settings.connect)
	defer cancel()
	s, err := connect(connecting, v.db)
	if err != nil {
		return nil, nil, err
	}
	whole := false
	defer func() {
		if open == nil {
			s.release(whole) // also when fn panics
		}
	}()
	tx := s.conn.Autocommit(func(gets []sqldoc.Call) ([][]any, error) { return v.begin(s, gets) })
	defer tx.End()
	if snapshot {
		err = tx.BeginSnapshot()
	}
	if err == nil {
		own = fn(tx)
	}
	if err := tx.Err(); err != nil && (passes(err) || errors.Is(err, sqldoc.ErrFirstReadChanged) || s.lost()) {
		return nil, nil, s.mean(err)
	}
	if whole = !tx.Begun(); !whole {
		open = s
	}
	if own == nil {
		own = tx.Err() // fn ignored it
	}
	return own, open, nil
}

// end ends the transaction of a View, whose function has all its answers: nobody waits for it.
func (v *views) end(s *session) {
	_, err := s.run("ROLLBACK")
	s.release(err == nil)
	<-v.turns
}

// begin begins a transaction with a snapshot and asks for rows in it, in one message.
func (v *views) begin(s *session, gets []sqldoc.Call) ([][]any, error) {
	limits := limits(false, v.settings.statement, v.settings.lock, v.settings.reading).statement().text
	rows, err := askTogether(s.pinned, slices.Concat([]sqldoc.Call{{Text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, {Text: limits}}, gets))
	if err != nil {
		return nil, err
	}
	return rows[2:], nil
}

// close admits no more Views and waits for those that run.
func (v *views) close() error {
	close(v.closing)
	for range cap(v.turns) {
		v.turns <- struct{}{}
	}
	return v.db.Close()
}
