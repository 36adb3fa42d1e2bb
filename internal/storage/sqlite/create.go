package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// prepare creates the database in a new directory, and refuses a directory whose database
// is missing.
func (d *directory) prepare(ctx context.Context, s settings) error {
	if !d.has(databaseFile) {
		if err := d.checkNew(); err != nil {
			return err
		}
		if err := d.create(ctx, s); err != nil {
			return fmt.Errorf("make a store at %s: %w", d.path, err)
		}
	}
	if err := d.checkDatabases(); err != nil {
		return err
	}
	for _, name := range []string{databaseFile, journalFile} {
		if err := rewriteLog(d.file(name + "-wal")); err != nil {
			return fmt.Errorf("rewrite %s: %w", d.file(name+"-wal"), err)
		}
	}
	return d.mark()
}

// checkDatabases checks the database and the journal, which is missing where the store was
// closed, and the logs that a crash has left beside them.
func (d *directory) checkDatabases() error {
	for _, name := range []string{databaseFile, journalFile} {
		if name == journalFile && !d.has(name) {
			continue
		}
		if err := checkHeader(d.file(name)); err != nil {
			return err
		}
		if err := checkLog(d.file(name + "-wal")); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) checkNew() error {
	for _, name := range []string{markerFile, databaseFile + "-wal", databaseFile + "-journal", journalFile} {
		if d.has(name) {
			return fmt.Errorf("the store at %s has lost its file %s (%s is there): restore it from a backup", d.path, databaseFile, name)
		}
	}
	return nil
}

// create builds the database.
func (d *directory) create(ctx context.Context, s settings) error {
	return d.build(databaseFile, func(path string) error {
		crashpoint.At("sqlite.begun", nil)
		return s.fill(ctx, path, func(db *sql.DB) error { return migrate(ctx, db) })
	})
}

// build makes a database under a temporary name and renames it once it is complete and
// durable, so that no incomplete one ever has the name.
func (d *directory) build(name string, fill func(path string) error) error {
	temporary := name + newSuffix
	path := d.file(temporary)
	if err := d.remove(temporary); err != nil { // of an interrupted build
		return err
	}
	if err := os.WriteFile(path, firstPage(), 0o600); err != nil {
		return err
	}
	if err := fill(path); err != nil {
		return errors.Join(err, d.remove(temporary))
	}
	crashpoint.At("sqlite.made", name)
	if err := atomicfile.Sync(path); err != nil {
		return err
	}
	if err := os.Rename(path, d.file(name)); err != nil {
		return err
	}
	crashpoint.At("sqlite.named", name)
	return atomicfile.Sync(d.path)
}

// fill writes the first content of an empty database. It needs no sync: build syncs the file
// before it renames it.
func (s settings) fill(ctx context.Context, path string, content func(*sql.DB) error) (err error) {
	db, err := s.writerPool(path)
	if err != nil {
		return err
	}
	defer func() { err = inWords(path, errors.Join(err, db.Close())) }()
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return err
	}
	if err := content(db); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// remove removes a database.
func (d *directory) remove(name string) error {
	for _, suffix := range sqliteSuffixes {
		if err := os.Remove(d.file(name + suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
