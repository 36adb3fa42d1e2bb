package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/countersign/countersign/internal/storage/store"
)

// Store is the store in a PostgreSQL database. Open makes one; many, in any number
// of processes, may share a database.
type Store struct {
	writer  *writer
	views   *views
	newer   bool
	db      *database
	raised  atomic.Bool // it is closed to earlier releases, as far as this process knows
	closing sync.Once
	closed  error
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Leveled = (*Store)(nil)
)

// Open connects to a database, by an address that begins with postgres:// and may have
// libpq parameters, and creates the tables if there are none. It refuses, with an error of
// one line, a database that a newer release has closed to older ones or whose encoding
// can't store every text. ctx bounds the opening.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, defaults()) }

func open(ctx context.Context, url string, settings settings) (*Store, error) {
	db, err := parse(url, settings)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(ctx); err != nil {
		return nil, fmt.Errorf("store %s: %w", db.name(), err)
	}
	db.settings = db.settings.at(db.roundTrip)
	s := &Store{writer: newWriter(db), views: newViews(db), newer: db.newer, db: db}
	s.raised.Store(db.raised)
	go s.writer.run()
	return s, nil
}

// View implements store.Store. fn may be called again when its connection is lost.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.views.view(ctx, fn)
}

// Update implements store.Store. fn runs in the caller's goroutine; if it panics or calls
// runtime.Goexit, its writes are undone and the panic continues. After store.ErrInDoubt the outcome
// is not known; after any other error nothing was changed.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.writer.update(ctx, fn)
}

// Failed implements store.Store. The store fails when it can't find out an outcome, or when
// a newer release has raised the level.
func (s *Store) Failed() <-chan struct{} { return s.writer.failed }

// Newer reports that, when the store was opened, the tables were those of a newer release.
// They are usable, but have content that this release doesn't know.
func (s *Store) Newer() bool { return s.newer }

// Full implements store.Store: a write failed for lack of space and none was committed
// since, or the role lacks a right to write.
func (s *Store) Full() bool { return s.writer.full.Load() || s.writer.denied.Load() }

// Commits is the number of commits made, each for one or more Updates.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// Close waits for the Updates and Views that have begun.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = errors.Join(s.writer.close(), s.views.close()) })
	return s.closed
}
