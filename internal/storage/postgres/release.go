package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// level decides which releases may use a store: those whose level is at least that in the
// row writerRow of countersign_writer. The number of the newest migration doesn't decide:
// during a rolling upgrade, and after a rollback, an older release uses the tables of a
// newer one.
//
// A migration therefore only adds: tables, indexes, and columns that are nullable or have
// a default. It must tolerate what an older release then does:
//
//   - When it changes a row it keeps a new column's value, and in a new row that column has
//     the default. A list by that column is right only once no older release writes.
//   - It drops the fields that it doesn't know when it rewrites a document. A field that
//     must not be lost belongs in a table, or a document, that older releases don't write.
//   - It doesn't know a new value of a field that it reads, such as a status, and a new
//     field is missing from what it computes over a whole document, such as a digest.
//
// A migration that changes rows raises countersign_writer.turn in the same transaction,
// since running processes cache the rows of their last batch.
//
// If older releases can't be tolerated, level is raised, and the migration sets
// countersign_writer.level to it: older releases are then refused, and running ones end
// (see writer.check).
//
// A store with records of the third edition has level 2: Raise sets it, and no migration, so
// that a release before it can be put back until the first of them is written.
const level = 2

//go:embed migrations/*.sql
var embedded embed.FS

// checkRelease refuses a store that needs a higher level than this release's, and reports
// whether the tables are those of a newer release, and whether they are closed to earlier ones.
func checkRelease(ctx context.Context, db *sql.DB, provider *goose.Provider) (newer, raised bool, err error) {
	var needed int64
	if err := db.QueryRowContext(ctx, "SELECT level FROM countersign_writer WHERE id = "+writerRow).Scan(&needed); err != nil {
		return false, false, err
	}
	migrated, err := provider.GetDBVersion(ctx)
	if err != nil {
		return false, false, err
	}
	known := knownMigration(provider)
	if needed > level {
		return false, false, fmt.Errorf("was written by a newer release (schema %d, level %d; this one knows %d, %d): use that release",
			migrated, needed, known, level)
	}
	return migrated > known, needed >= level, nil
}

// Raised implements store.Leveled.
func (s *Store) Raised() bool { return s.raised.Load() }

// Raise implements store.Leveled. It waits for the turn of whoever writes; the next of an
// earlier release finds the level, and ends.
func (s *Store) Raise(ctx context.Context) (err error) {
	db := s.db.pool(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "UPDATE countersign_writer SET level = "+strconv.Itoa(level)+" WHERE id = "+writerRow+" AND level < "+strconv.Itoa(level)); err != nil {
		return fmt.Errorf("close the store to earlier releases: %w", meaning(err))
	}
	s.raised.Store(true)
	return nil
}

// knownMigration is the number of the newest migration of this release.
func knownMigration(provider *goose.Provider) int64 {
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}

// migrations reads the migrations. For a database that always compares text by bytes the
// collation is left out: CockroachDB doesn't have it.
func migrations(db *sql.DB, bytewise bool) (*goose.Provider, error) {
	names, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []*goose.Migration
	for _, name := range names {
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			return nil, err
		}
		statements := string(text)
		if bytewise {
			statements = strings.ReplaceAll(statements, ` COLLATE "C"`, "")
		}
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: running(statements)}, nil))
	}
	return goose.NewProvider(goose.DialectPostgres, db, nil, goose.WithGoMigrations(all...),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// running returns a migration that runs these statements in its transaction.
func running(statements string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	}
}
