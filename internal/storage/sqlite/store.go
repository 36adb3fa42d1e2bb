package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// Store is the embedded store. Open makes one.
type Store struct {
	dir       *directory
	writerDB  *sql.DB
	readersDB *sql.DB
	writer    *writer
	flusher   *flusher
	journal   *journal
	layers    *writebehind.Layers
	readers   *readers
	scrubber  *scrubber    // nil: every page was read
	reading   *sqldoc.Conn // the writer's, for reading
	raised    atomic.Bool  // it is closed to earlier releases
	raising   func() (*sql.DB, error)
	settled   bool // nothing is in the journal that the database lacks
	closing   sync.Once
	closed    error
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Changing = (*Store)(nil)
	_ store.Leveled  = (*Store)(nil)
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
	s.raising = func() (*sql.DB, error) { return settings.writerPool(path) }
	whole, err := checkAtStart(ctx, s.readersDB, settings.wholeAtStart)
	if err != nil {
		return err
	}
	if err := checkRelease(ctx, s.readersDB, known); err != nil {
		return err
	}
	if err := checkUpgrade(ctx, s.readersDB, known); err != nil {
		return err
	}
	if err := migrate(ctx, s.writerDB); err != nil {
		return err
	}
	raised, err := isRaised(ctx, s.readersDB)
	if err != nil {
		return err
	}
	s.raised.Store(raised)
	// A connection that has read the schema before would, if the disk then fails a read, say
	// that there is no such table.
	s.readersDB.SetMaxIdleConns(0)
	s.readersDB.SetMaxIdleConns(settings.readers + 1)
	if err := s.pin(ctx, settings); err != nil || whole {
		return err
	}
	return s.scrub(settings)
}

// pin opens the connections and the journal, and starts to write.
func (s *Store) pin(ctx context.Context, settings settings) (err error) {
	s.readers = newReaders(settings.readers)
	var own []*sqldoc.Conn // the writer's for reading, and the flusher's
	defer func() {
		if err != nil {
			for _, conn := range own {
				err = errors.Join(err, conn.Close())
			}
			err = errors.Join(err, s.readers.close())
		}
	}()
	for range settings.readers {
		conn, err := pin(ctx, s.readersDB, s.dir.file(databaseFile))
		if err != nil {
			return err
		}
		s.readers.add(conn)
	}
	for _, db := range []*sql.DB{s.readersDB, s.writerDB} {
		conn, err := pin(ctx, db, s.dir.file(databaseFile))
		if err != nil {
			return err
		}
		own = append(own, conn)
	}
	return s.begin(ctx, settings, own[0], own[1])
}

// begin opens the journal, reads what is not in the tables yet, and starts the goroutines.
func (s *Store) begin(ctx context.Context, settings settings, reading, writing *sqldoc.Conn) error {
	n, err := s.named(ctx, settings, writing)
	if err != nil {
		return err
	}
	if s.journal, err = s.dir.openJournal(ctx, settings, n); err != nil {
		return err
	}
	s.layers = writebehind.New(n.written)
	rows := s.layers.NewWriter(func() (writebehind.Reader, error) { return reader{conn: reading}, nil })
	if err := s.journal.recover(ctx, rows, n.written); err != nil {
		return errors.Join(fmt.Errorf("store %s: %w", s.dir.file(journalFile), err), s.journal.close())
	}
	reserve := openReserve(s.dir.file(reserveFile))
	s.flusher = newFlusher(writing, reserve, settings, n.written, func(err error) { s.writer.fail(err) })
	s.writer = newWriter(s.journal, s.flusher, rows, s.layers, reserve, settings)
	s.flusher.poisoned = s.writer.poisoned
	s.reading = reading
	go s.flusher.run()
	go s.writer.run()
	return nil
}

// named is the journal that the database names. If it names none, an empty one is made.
func (s *Store) named(ctx context.Context, settings settings, writing *sqldoc.Conn) (n named, err error) {
	if n, err = readNamed(writing); err != nil {
		return n, err
	}
	switch {
	case n.id == "":
		if err = s.dir.checkDone(ctx, settings, n.written); err != nil {
			return n, err
		}
		if n.id, err = s.dir.createJournal(ctx, settings, n.written); err != nil {
			return n, fmt.Errorf("make %s: %w", s.dir.file(journalFile), err)
		}
		err = nameJournal(writing, settings, n.id)
	case !s.dir.has(journalFile):
		err = lostJournal()
	}
	return n, err
}

// nameJournal writes the name, and copies it from the log into the database's own file: a copy
// of that file alone is then no store that was closed. On a full disk it stays in the log.
func nameJournal(writing *sqldoc.Conn, settings settings, id string) error {
	if err := writing.Run("UPDATE journal SET id = $1", id); err != nil {
		return err
	}
	if _, err := newCheckpointer(writing, settings).run("PASSIVE"); syncFailed(err) {
		return err
	}
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
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.readers.enter() {
		return store.ErrClosed
	}
	defer s.readers.leave()
	return s.layers.View(func() (writebehind.Reader, error) { return s.readers.lend(ctx) }, fn)
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
func (s *Store) Full() bool { return s.writer.reserve.spent.Load() || s.writer.behind() }

// Commits is the number of commits made, each for one or more Updates.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// Lag is about how many bytes of committed rows are not written to their tables yet.
func (s *Store) Lag() int64 { return int64(s.layers.Lag()) }

// Close waits for the Updates and Views that have begun, writes all rows to their tables and
// the write-ahead log into the database, and unlocks the directory.
func (s *Store) Close() error {
	s.closing.Do(func() {
		scrubbed := s.scrubber.close()
		s.writer.close()
		s.readers.gather()
		err := s.finish()
		s.closed = errors.Join(scrubbed, err, s.disconnect(s.writer.poisoned()), s.release())
	})
	return s.closed
}

// finish writes what is not in the tables yet. After that the database needs no journal. If
// it can't, the next start will.
func (s *Store) finish() error {
	freeze := s.layers.Freeze
	if s.writer.poisoned() {
		freeze = func() *writebehind.Frozen { return nil }
	}
	written := s.flusher.last(s.writer.flushing, freeze)
	if s.writer.poisoned() {
		return nil
	}
	err := s.flusher.failure()
	if err == nil && written {
		err = s.settle()
	}
	if code(err) == codes.SQLITE_FULL {
		err = nil // the journal stays, and nothing is lost
	}
	if syncFailed(err) || s.flusher.failure() != nil {
		close(s.writer.failed) // not poison(): it would write the reason, which others may be reading
	}
	if err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// settle makes the database the whole store.
func (s *Store) settle() error {
	if err := s.flusher.conn.Run("UPDATE journal SET id = ''"); err != nil {
		return err
	}
	if err := s.flusher.log.empty(); err != nil {
		return err
	}
	s.settled = true
	return nil
}

// disconnect closes the connections. SQLite checkpoints, and so syncs, when the last
// connection closes, unless that one is read-only: the one that writes goes last, but in a
// poisoned store, which must not sync, the readers do.
func (s *Store) disconnect(poisoned bool) error {
	journal := s.journal.close()
	if s.settled {
		journal = errors.Join(journal, s.dir.remove(journalFile))
	}
	writer := func() error { return errors.Join(s.flusher.conn.Close(), s.writerDB.Close()) }
	readers := func() error { return errors.Join(s.readers.close(), s.reading.Close(), s.readersDB.Close()) }
	if poisoned {
		return errors.Join(journal, writer(), readers())
	}
	return errors.Join(journal, readers(), writer())
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
