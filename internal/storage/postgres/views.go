package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// views runs Views. Their first rows are read together (see gets); only so many of them have
// a snapshot at once, each on a connection of its own.
type views struct {
	settings settings
	db       *sql.DB
	onError  func(error)
	gets     gets
	turns    chan struct{} // as many as there are connections

	mu      sync.Mutex
	running sync.WaitGroup // Views, and what reads for them
	closed  bool
	closing chan struct{}
}

func newViews(db *database) *views {
	v := &views{
		settings: db.settings,
		db:       db.pool(db.settings.readers),
		onError:  db.learn,
		turns:    make(chan struct{}, db.settings.readers),
		closing:  make(chan struct{}),
	}
	v.gets = gets{views: v, most: max(1, db.settings.readers/connectionsPerMessage), late: lateAfter}
	v.db.SetConnMaxIdleTime(5 * time.Minute)
	return v
}

// view runs fn in one snapshot, and again in another if its connection is lost.
func (v *views) view(ctx context.Context, fn func(store.Tx) error) error {
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.running.Done()
	// The time counts from here, the wait for a turn included: without a server each View
	// would otherwise wait in turn.
	until := time.Now().Add(v.settings.patience)
	late := false // it tries once more, since its message was lost with those of others
	for pause := time.Duration(0); ; pause = nextPause(pause) {
		own, err := v.try(ctx, fn, until)
		if err == nil {
			return own
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		v.onError(err)
		if !passes(err) || time.Now().After(until) && (late || !errors.As(err, new(shared))) {
			return err
		}
		late = time.Now().After(until)
		if err := v.pause(ctx, pause); err != nil {
			return err
		}
	}
}

// enter admits a View, whose end is running.Done.
func (v *views) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return store.ErrClosed
	}
	v.running.Add(1)
	return nil
}

func (v *views) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-v.closing:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect takes one of the connections, for which the caller has a turn.
func (v *views) connect(ctx context.Context, until time.Time) (*session, error) {
	connecting, cancel := context.WithTimeout(ctx, max(time.Until(until), 0)+v.settings.connect)
	defer cancel()
	return connect(connecting, v.db)
}

// try runs fn in a snapshot that begins with its second read, and again in the same snapshot
// if what it read first has changed before that. own is fn's error; if err, the
// transaction's error, is not nil, own has no meaning.
func (v *views) try(ctx context.Context, fn func(store.Tx) error, until time.Time) (own, err error) {
	r := &viewReads{views: v, ctx: ctx, until: until}
	keep := false
	defer func() { r.end(keep) }() // also when fn panics
	tx := sqldoc.Autocommit(dialect, r)
	if own = run(fn, tx); errors.Is(tx.Err(), sqldoc.ErrFirstReadChanged) {
		tx = r.session.conn.Begin(true)
		own = run(fn, tx)
	}
	if err := tx.Err(); err != nil && (r.failed != nil || passes(err) || r.lost()) {
		return nil, r.mean(err)
	}
	keep = true
	if own == nil {
		own = tx.Err() // fn ignored it
	}
	return own, nil
}

func run(fn func(store.Tx) error, tx *sqldoc.Tx) error {
	defer tx.End()
	return fn(tx)
}

// viewReads are the reads of one View: the first one with those of others, the others in a
// transaction.
type viewReads struct {
	views   *views
	ctx     context.Context
	until   time.Time
	session *session // nil: there is no transaction
	failed  error    // why there is none
}

// First implements sqldoc.Reads.
func (r *viewReads) First(get sqldoc.Call) (row []any, err error) {
	if row, err = r.views.gets.ask(r.ctx, get, r.until); err != nil && r.ctx.Err() != nil {
		r.failed = err
	}
	return row, err
}

// Begin implements sqldoc.Reads.
func (r *viewReads) Begin(gets []sqldoc.Call) (*sqldoc.Conn, [][]any, error) {
	select {
	case r.views.turns <- struct{}{}:
	case <-r.ctx.Done():
		r.failed = r.ctx.Err()
		return nil, nil, r.failed
	}
	if r.session, r.failed = r.views.connect(r.ctx, r.until); r.failed != nil {
		r.session = nil
		<-r.views.turns
		return nil, nil, r.failed
	}
	rows, err := r.views.begin(r.session, gets)
	return r.session.conn, rows, err
}

func (r *viewReads) lost() bool { return r.session != nil && r.session.lost() }

func (r *viewReads) mean(err error) error {
	if r.session == nil {
		return meaning(err)
	}
	return r.session.mean(err)
}

// end ends the transaction, if there is one. If the connection is kept, nobody waits for that:
// the function has all its answers.
func (r *viewReads) end(keep bool) {
	switch {
	case r.session == nil:
	case keep:
		go r.views.end(r.session)
	default:
		r.session.release(false)
		<-r.views.turns
	}
}

// end ends the transaction of a View.
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
	v.mu.Lock()
	v.closed = true
	close(v.closing)
	v.mu.Unlock()
	v.running.Wait()
	for range cap(v.turns) {
		v.turns <- struct{}{}
	}
	return v.db.Close()
}

// Readers is how many Views run at once.
func (s *Store) Readers() int { return s.views.settings.readers }
