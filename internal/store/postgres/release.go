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

// level rises with each release that reads or writes documents in a way that the
// one before can't live with. Its migration then sets countersign_writer.level of
// the row writerRow to the level that a program must have to use the store, which
// also stops those that run (see checkLevel).
const level = 1

//go:embed migrations/*.sql
var embedded embed.FS

// checkRelease refuses a store that a newer release has changed.
func checkRelease(ctx context.Context, db *sql.DB, provider *goose.Provider) error {
	var needed int64
	if err := db.QueryRowContext(ctx, "SELECT level FROM countersign_writer WHERE id = "+writerRow).Scan(&needed); err != nil {
		return err
	}
	migrated, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	known := knownMigration(provider)
	if migrated > known || needed > level {
		return fmt.Errorf("was written by a newer release (schema %d, level %d; this one knows %d, %d): use that release",
			migrated, needed, known, level)
	}
	return nil
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
