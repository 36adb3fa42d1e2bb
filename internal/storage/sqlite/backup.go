package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/storage/store"
)

// Backup copies one snapshot of the store in a directory to a new file, also while a
// service uses the store. The copy is the database alone; the checksum of each page is
// verified as it is copied. progress, if not nil, gets the number of pages copied and the
// total. An existing file is never overwritten; an incomplete copy is removed.
func Backup(ctx context.Context, dir, file string, progress func(done, all int)) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	leave, _, err := visit(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists; a backup never writes over a file", file)
	}
	part := file + ".part"
	if err := newPart(part); err != nil {
		return err
	}
	if err := copyWhole(ctx, dir, part, progress); err != nil {
		return errors.Join(err, removeDatabase(part))
	}
	return errors.Join(atomicfile.Sync(part), os.Rename(part, file), atomicfile.Sync(filepath.Dir(file)))
}

// visit checks that a directory holds a store that may be read. If no process uses the
// store (free), visit checks its log as a start would and locks the store until leave.
func visit(dir string) (leave func() error, free bool, err error) {
	d := directory{path: dir, lock: flock.New(filepath.Join(dir, lockFile))}
	if !d.has(databaseFile) {
		return nil, false, fmt.Errorf("there is no store at %s", dir)
	}
	free, err = d.lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock store directory %s: %w", dir, err)
	}
	if free {
		err = d.checkDatabases()
	}
	if err != nil {
		return nil, free, errors.Join(err, d.leave())
	}
	return d.leave, free, nil
}

// newPart creates the empty file that the pages are copied into, readable by its owner
// only.
func newPart(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(firstPage())
	return errors.Join(err, f.Close())
}

func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range sqliteSuffixes {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// copyWhole copies the database, and writes the rows into the copy that only the journal
// has. The journal is read first: what it lacks by then, the database has.
func copyWhole(ctx context.Context, dir, to string, progress func(done, all int)) error {
	ahead, err := readAhead(ctx, dir)
	if err != nil {
		return err
	}
	if err := copyPages(ctx, filepath.Join(dir, databaseFile), to, progress); err != nil {
		return err
	}
	return ahead.write(ctx, to)
}

// pagesAtOnce is how many pages are copied between two checks of ctx.
const pagesAtOnce = 2000

// copyPages holds one snapshot of the source until it is done: commits made meanwhile are
// not in the copy and don't make SQLite restart it.
func copyPages(ctx context.Context, from, to string, progress func(done, all int)) (err error) {
	vfs, err := checkedVFS("")
	if err != nil {
		return err
	}
	db, err := defaults().readerPool(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store %s: %w", from, unreadable(err))
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("store %s: %w", from, unreadable(err))
	}
	return conn.Raw(func(driver any) error {
		b, err := driver.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(dataSource(vfs, to, "rw", writerPragmas, commonPragmas))
		if err != nil {
			return err
		}
		if err := allPages(ctx, from, b, progress); err != nil {
			_ = b.Finish() // it repeats the error of the step
			return err
		}
		return b.Finish()
	})
}

func allPages(ctx context.Context, from string, b *sqlite.Backup, progress func(done, all int)) error {
	for {
		more, err := b.Step(pagesAtOnce)
		if err != nil {
			return fmt.Errorf("store %s: %w", from, unreadable(err))
		}
		if progress != nil {
			progress(b.PageCount()-b.Remaining(), b.PageCount())
		}
		if !more {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Copy is a backup file opened read-only. No file is created beside it.
type Copy struct {
	db      *sql.DB
	readers *readers
	file    string
	behind  bool
	packs   bool // it has them
}

// OpenCopy refuses a file that isn't a backup of a store, isn't whole, or was
// written by a newer release; it reads every page.
func OpenCopy(ctx context.Context, file string) (*Copy, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if err := checkHeader(file); err != nil {
		return nil, err
	}
	vfs, err := checkedVFS("")
	if err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(dataSource(vfs, file, "ro", readerPragmas, commonPragmas) + "&immutable=1")
	if err != nil {
		return nil, err
	}
	c := &Copy{db: sql.OpenDB(connector), file: file, readers: newReaders(1)}
	if err := c.check(ctx); err != nil {
		return nil, fmt.Errorf("backup %s: %w", file, errors.Join(err, c.Close()))
	}
	return c, nil
}

func (c *Copy) check(ctx context.Context) error {
	known, err := knownMigration(c.db)
	if err != nil {
		return err
	}
	if err := checkPages(ctx, c.db); err != nil {
		return err
	}
	if err := checkRelease(ctx, c.db, known); err != nil {
		return err
	}
	if err := c.db.QueryRowContext(ctx, "SELECT MAX(version_id) < ? FROM goose_db_version", known).Scan(&c.behind); err != nil {
		return unreadable(err)
	}
	if err := c.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'audit_packs')").Scan(&c.packs); err != nil {
		return unreadable(err)
	}
	conn, err := pin(ctx, c.db, c.file)
	if err != nil {
		return err
	}
	c.readers.add(conn)
	return nil
}

// View calls fn with the state that the backup holds.
func (c *Copy) View(ctx context.Context, fn func(store.Tx) error) error {
	conn, err := c.readers.borrow(ctx)
	if err != nil {
		return err
	}
	defer func() { c.readers.idle <- conn }()
	if err := conn.Exec("BEGIN"); err != nil {
		return err
	}
	snapshot := newSnapshot(conn, named{}, c.packs)
	defer snapshot.Close()
	if err := fn(snapshot); err != nil {
		return err
	}
	return snapshot.Err()
}

// Behind reports a backup of an earlier release, which lacks tables or columns that this
// release reads.
func (c *Copy) Behind() bool { return c.behind }

// Close closes the file.
func (c *Copy) Close() error { return errors.Join(c.readers.close(), c.db.Close()) }
