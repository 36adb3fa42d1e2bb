package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/countersign/countersign/internal/storage/store"
)

// Store is the store in a PostgreSQL database. Open makes one; many, in any number
// of processes, may share a database.
type Store struct {
	writer  *writer
	views   *views
	newer   bool
	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open connects to a database, by an address that begins with postgres:// and that
// the libpq parameters may follow, and makes the tables if there are none. It
// refuses, in one clear line, a database that a newer release keeps older ones from
// or that can't keep every text. ctx bounds the opening.
func Open(ctx context.Context, url string) (*Store, error) { return open(ctx, url, defaults()) }

func open(ctx context.Context, url string, settings settings) (*Store, error) {
	db, err := parse(url, settings)
	if err != nil {
		return nil, err
	}
	if err := db.prepare(ctx); err != nil {
		return nil, fmt.Errorf("store %s: %w", db.name(), err)
	}
	s := &Store{writer: newWriter(db), views: newViews(db), newer: db.newer}
	go s.writer.run()
	return s, nil
}

// View implements store.Store. fn may be called again when its connection is lost.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.views.view(ctx, fn)
}

// Update implements store.Store. fn runs in the caller's goroutine; when it
// panics or exits, its writes are undone and the panic goes on. An error that is
// ErrDoubt says that the outcome is not known, every other one that nothing was
// changed.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.writer.update(ctx, fn)
}

// Failed implements store.Store: an outcome could not be found out, or a newer
// release has taken the database over.
func (s *Store) Failed() <-chan struct{} { return s.writer.failed }

// Newer reports that, at the opening, the tables were those of a newer release. They
// can be used, but this release doesn't know of all that they keep.
func (s *Store) Newer() bool { return s.newer }

// Full implements store.Store: the server had no space, and nothing was committed
// since; or a right to write is missing.
func (s *Store) Full() bool { return s.writer.full.Load() || s.writer.denied.Load() }

// Commits counts the commits that were made; Updates share them.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// Close waits for the Updates that wait for their turn and for the Views that run.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = errors.Join(s.writer.close(), s.views.close()) })
	return s.closed
}
