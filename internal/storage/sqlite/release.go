package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	codes "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// level rises with each release whose documents the release before can't read or must not
// write. The migration of such a release sets user_version to the level that a program
// needs to open the store.
const level = 4

// highest is the level of a store with records of the third edition, which this release may
// use as well. Raise sets it.
const highest = 5

//go:embed migrations/*.sql
var embedded embed.FS

// checkPages reads every page and so refuses a store with a damaged one. It
// reads about a gigabyte a second.
func checkPages(ctx context.Context, db *sql.DB) error {
	found, err := quickCheck(ctx, db)
	if page := missedPage(found); err == nil && page > 0 {
		// For some pages quick_check only says that it could not get them.
		if err := readPages(ctx, db, page, page); err != nil {
			return unreadable(err)
		}
		found, err = quickCheck(ctx, db) // it can be read now
	}
	switch {
	case err != nil:
		return unreadable(err)
	case found == "ok":
		return nil
	}
	report := strings.ReplaceAll(found, "\n", " ")
	if c := reportedCode(found); c&0xff == codes.SQLITE_IOERR && c != codes.SQLITE_IOERR_DATA {
		return fmt.Errorf("can't be read: %s", report)
	}
	return fmt.Errorf("is damaged: restore it from a backup: %s", report)
}

// quickCheck returns the first problem found, "ok" if there is none.
func quickCheck(ctx context.Context, db *sql.DB) (found string, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found)
	return found, err
}

// missedPage is the page that quick_check could not get, 0 if it names none.
func missedPage(found string) (page int64) {
	_, named, ok := strings.Cut(found, "failed to get page ")
	if ok {
		_, _ = fmt.Sscanf(named, "%d", &page) // 0 where no number follows
	}
	return page
}

// reportedCode is the result code in quick_check's report of a page that it could not get,
// 0 if there is none.
func reportedCode(found string) (c int) {
	_, named, ok := strings.Cut(found, "error code=")
	if !ok {
		return 0
	}
	_, _ = fmt.Sscanf(named, "%d", &c) // 0 where no number follows
	return c
}

// unreadable tells a damaged store, which needs a backup, from a store on a disk that
// can't be read now.
func unreadable(err error) error {
	err = inWords("", err)
	switch c := code(err); {
	case c == codes.SQLITE_ERROR:
		return fmt.Errorf("is not a Countersign store, or it is damaged: %w", err)
	case isDamage(err):
		return fmt.Errorf("is damaged: restore it from a backup: %w", err)
	case c == codes.SQLITE_IOERR_SHMSIZE, c == codes.SQLITE_FULL:
		return fmt.Errorf("can't be opened without some space on its disk: %w", err)
	default:
		return fmt.Errorf("can't be read: %w", err)
	}
}

// checkRelease refuses a store that a newer release has changed. db only reads.
func checkRelease(ctx context.Context, db *sql.DB, known int64) error {
	var migrated, needed int64
	if err := db.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&migrated); err != nil {
		return unreadable(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&needed); err != nil {
		return unreadable(err)
	}
	if migrated > known || needed > highest {
		return fmt.Errorf("was written by a newer release (schema %d, level %d; this one knows %d, %d): use that release",
			migrated, needed, known, highest)
	}
	return nil
}

// Raised implements store.Leveled.
func (s *Store) Raised() bool { return s.raised.Load() }

// Raise implements store.Leveled, on a connection of its own: it is durable when it returns,
// before anything that needs it is in the journal.
func (s *Store) Raise(ctx context.Context) (err error) {
	if s.raised.Load() {
		return nil
	}
	db, err := s.raising()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", highest)); err != nil {
		return inWords("close the store to earlier releases", err)
	}
	s.raised.Store(true)
	return nil
}

// Raised reports whether the store in a directory is closed to releases that don't know the
// third edition. It changes nothing.
func Raised(ctx context.Context, dir string) (raised bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	leave, _, err := visit(dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	db, err := defaults().readerPool(filepath.Join(dir, databaseFile))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return isRaised(ctx, db)
}

func isRaised(ctx context.Context, db *sql.DB) (bool, error) {
	var needed int64
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&needed)
	return needed >= highest, inWords("", err)
}

// checkUpgrade refuses a store that an earlier release left with a journal: frames have the
// columns of the release that wrote them. That release reads them at its next start, and
// leaves none when it is stopped cleanly.
func checkUpgrade(ctx context.Context, db *sql.DB, known int64) error {
	var migrated int64
	var journals int
	if err := db.QueryRowContext(ctx, "SELECT MAX(version_id) FROM goose_db_version").Scan(&migrated); err != nil {
		return unreadable(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'journal'").Scan(&journals); err != nil {
		return unreadable(err)
	}
	if migrated == known || journals == 0 {
		return nil
	}
	var id string
	if err := db.QueryRowContext(ctx, "SELECT id FROM journal").Scan(&id); err != nil {
		return unreadable(err)
	}
	if id != "" {
		return errors.New("was not stopped cleanly by the release that used it last: start that release once more and stop it, then this one")
	}
	return nil
}

// migrate brings the schema up to date. Each migration is one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := migrations(db)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	crashpoint.At("sqlite.migrated", nil)
	return inWords("", err)
}

// knownMigration is the number of the newest migration of this release.
func knownMigration(db *sql.DB) (int64, error) {
	provider, err := migrations(db)
	if err != nil {
		return 0, err
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version, nil
}

func migrations(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, dir,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}
