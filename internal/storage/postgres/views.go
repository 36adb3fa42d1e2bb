package postgres

import (
	"context"
	"database/sql"
	"errors"
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
	defer func() { <-v.turns }()
	snapshot := false
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		own, err := v.try(ctx, fn, until, snapshot)
		if err == nil {
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
// fn's error; if err, the transaction's error, is not nil, own has no meaning.
func (v *views) try(ctx context.Context, fn func(store.Tx) error, until time.Time, snapshot bool) (own, err error) {
	connecting, cancel := context.WithTimeout(ctx, max(time.Until(until), 0)+v.settings.connect)
	defer cancel()
	s, err := connect(connecting, v.db)
	if err != nil {
		return nil, err
	}
	whole := false
	defer func() { s.release(whole) }() // also when fn panics
	tx := s.conn.Autocommit(func() error { return v.begin(s) })
	defer tx.End()
	if snapshot {
		err = tx.BeginSnapshot()
	}
	if err == nil {
		own = fn(tx)
	}
	if err := tx.Err(); err != nil && (passes(err) || errors.Is(err, sqldoc.ErrFirstReadChanged) || s.lost()) {
		return nil, s.mean(err)
	}
	whole = !tx.Begun()
	if tx.Begun() {
		_, err = s.run("ROLLBACK")
		whole = err == nil // fn has all its answers
	}
	if own == nil {
		own = tx.Err() // fn ignored it
	}
	return own, nil
}

// begin begins a transaction with a snapshot.
func (v *views) begin(s *session) error {
	_, err := s.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " +
		limits(false, v.settings.statement, v.settings.lock, v.settings.reading).text())
	return err
}

// close admits no more Views and waits for those that run.
func (v *views) close() error {
	close(v.closing)
	for range cap(v.turns) {
		v.turns <- struct{}{}
	}
	return v.db.Close()
}
