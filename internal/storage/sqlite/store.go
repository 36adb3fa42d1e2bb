package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/countersign/countersign/internal/storage/store"
)

// Store is the embedded store. Open makes one.
type Store struct {
	dir       *directory
	writerDB  *sql.DB
	readersDB *sql.DB
	writer    *writer
	readers   *readers
	scrubber  *scrubber // nil: every page was read
	closing   sync.Once
	closed    error
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Changing = (*Store)(nil)
)

// Open opens the store in a directory, or creates one if the directory is missing or
// empty. It refuses, with an error of one line and with nothing changed, a directory that
// another process uses or that can't be written, files that are symbolic links, and a
// database that is another program's, damaged or of a newer release. It never repairs or
// replaces a database.
func Open(ctx context.Context, dir string) (*Store, error) { return open(ctx, dir, defaults()) }

func open(ctx context.Context, path string, settings settings) (*Store, error) {
	dir, err := enter(path)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir}
	if err := s.start(ctx, settings); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, settings settings) error {
	if err := s.dir.prepare(ctx, settings); err != nil {
		return err
	}
	if err := s.connect(ctx, settings); err != nil {
		return fmt.Errorf("store %s: %w", s.dir.file(databaseFile), err)
	}
	return nil
}

// connect checks the database through the readers before the writer opens it.
func (s *Store) connect(ctx context.Context, settings settings) (err error) {
	path := s.dir.file(databaseFile)
	if s.readersDB, err = settings.readerPool(path); err != nil {
		return err
	}
	if s.writerDB, err = settings.writerPool(path); err != nil {
		return err
	}
	known, err := knownMigration(s.writerDB)
	if err != nil {
		return err
	}
	whole, err := checkAtStart(ctx, s.readersDB, settings.wholeAtStart)
	if err != nil {
		return err
	}
	if err := checkRelease(ctx, s.readersDB, known); err != nil {
		return err
	}
	if err := migrate(ctx, s.writerDB); err != nil {
		return err
	}
	if err := s.pin(ctx, settings); err != nil || whole {
		return err
	}
	return s.scrub(settings)
}

func (s *Store) pin(ctx context.Context, settings settings) error {
	conn, err := pin(ctx, s.writerDB)
	if err != nil {
		return err
	}
	s.readers = newReaders(settings.readers)
	for range settings.readers {
		reader, err := pin(ctx, s.readersDB)
		if err != nil {
			return errors.Join(err, conn.Close(), s.readers.close())
		}
		s.readers.add(reader)
	}
	s.writer = newWriter(conn, openReserve(s.dir.file(reserveFile)), settings)
	go s.writer.run()
	return nil
}

// scrub reads, while the store is in use, the pages that the start did not.
func (s *Store) scrub(settings settings) (err error) {
	path := s.dir.file(databaseFile)
	s.scrubber, err = settings.scrub(path, func(err error) { s.writer.fail(fmt.Errorf("store %s: %w", path, err)) })
	return err
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.readers.view(ctx, fn)
}

// Update implements store.Store. fn runs in the caller's goroutine; if it panics or calls
// runtime.Goexit, its writes are undone and the panic continues.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.writer.update(ctx, fn)
}

// Failed implements store.Store.
func (s *Store) Failed() <-chan struct{} { return s.writer.failed }

// Failure says why the store failed, once it has.
func (s *Store) Failure() error {
	<-s.writer.failed
	return s.writer.reason
}

// Full implements store.Store.
func (s *Store) Full() bool { return s.writer.reserve.spent.Load() }

// Commits is the number of commits made, each for one or more Updates.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// Close waits for the Updates and Views that have begun, copies the write-ahead log into
// the database and unlocks the directory.
func (s *Store) Close() error {
	s.closing.Do(func() {
		scrubbed := s.scrubber.close()
		s.writer.close()
		s.readers.gather()
		err := s.writer.finish()
		s.closed = errors.Join(scrubbed, err, s.disconnect(s.writer.poisoned()), s.release())
	})
	return s.closed
}

// disconnect closes the connections. SQLite checkpoints, and so syncs, when the last
// connection closes, unless that one is read-only: the writer goes last, but in a poisoned
// store, which must not sync, the readers do.
func (s *Store) disconnect(poisoned bool) error {
	writer := func() error { return errors.Join(s.writer.conn.Close(), s.writerDB.Close()) }
	readers := func() error { return errors.Join(s.readers.close(), s.readersDB.Close()) }
	if poisoned {
		return errors.Join(writer(), readers())
	}
	return errors.Join(readers(), writer())
}

// release closes the pools and unlocks the directory. After an Open that failed, perhaps on
// a sync, the writer doesn't close last and so doesn't sync.
func (s *Store) release() error {
	var errs []error
	for _, db := range []*sql.DB{s.writerDB, s.readersDB} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.dir.leave())...)
}
