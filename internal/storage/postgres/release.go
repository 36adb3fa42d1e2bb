package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// level says which releases may use a store: a program whose level is below that of
// the row writerRow in countersign_writer may not. The number of the newest
// migration decides nothing: amid a rolling upgrade, and after a roll-back, an
// older release uses the tables of a newer one.
//
// A migration therefore only adds: tables, indexes, and columns that are nullable
// or have a default. What an older release then does has to be bearable:
//
//   - It leaves a new column as it is when it changes a row, and gives a row of its
//     own the default. A list by that column is right only once no older release
//     writes any more.
//   - It reads a document without the fields that it doesn't know, and writes it
//     without them. A field that may not get lost belongs in a table, or a document,
//     that older releases don't write.
//   - It doesn't know a new value of a field that it reads, such as a status, and
//     what it computes over a whole document, such as a digest, leaves a new field out.
//
// And a migration changes no row, or raises countersign_writer.turn in the same
// transaction: processes that run remember the rows of their last batch.
//
// Where what older releases do can't be borne, level is raised, and the migration sets
// countersign_writer.level to it: older releases are then refused, and end where
// they run (see checkLevel).
const level = 1

//go:embed migrations/*.sql
var embedded embed.FS

// checkRelease refuses a store that this release's level is too low for, and says
// whether the tables are those of a newer release all the same.
func checkRelease(ctx context.Context, db *sql.DB, provider *goose.Provider) (newer bool, err error) {
	var needed int64
	if err := db.QueryRowContext(ctx, "SELECT level FROM countersign_writer WHERE id = "+writerRow).Scan(&needed); err != nil {
		return false, err
	}
	migrated, err := provider.GetDBVersion(ctx)
	if err != nil {
		return false, err
	}
	known := knownMigration(provider)
	if needed > level {
		return false, fmt.Errorf("was written by a newer release (schema %d, level %d; this one knows %d, %d): use that release",
			migrated, needed, known, level)
	}
	return migrated > known, nil
}

// knownMigration is the number of the newest migration of this release.
func knownMigration(provider *goose.Provider) int64 {
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}

// migrations reads the migrations. A database that compares text by bytes anyway
// need not know the collation that says so: CockroachDB doesn't.
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

// running is a migration that is one transaction of these statements.
func running(statements string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	}
}
