package sqlite

import (
	"context"
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
	if err := checkHeader(d.file(databaseFile)); err != nil {
		return err
	}
	if err := checkLog(d.file(databaseFile + "-wal")); err != nil {
		return err
	}
	if err := rewriteLog(d.file(databaseFile + "-wal")); err != nil {
		return fmt.Errorf("rewrite %s: %w", d.file(databaseFile+"-wal"), err)
	}
	return d.mark()
}

func (d *directory) checkNew() error {
	for _, name := range []string{markerFile, databaseFile + "-wal", databaseFile + "-journal"} {
		if d.has(name) {
			return fmt.Errorf("the store at %s has lost its file %s (%s is there): restore it from a backup", d.path, databaseFile, name)
		}
	}
	return nil
}

// create builds the database under a temporary name and renames it once it is complete
// and durable, so that no incomplete database ever has the name.
func (d *directory) create(ctx context.Context, s settings) error {
	path := d.file(newFile)
	if err := d.removeNew(); err != nil {
		return err
	}
	if err := os.WriteFile(path, firstPage(), 0o600); err != nil {
		return err
	}
	crashpoint.At("sqlite.begun", nil)
	if err := s.initialise(ctx, path); err != nil {
		return errors.Join(err, d.removeNew())
	}
	crashpoint.At("sqlite.made", nil)
	if err := atomicfile.Sync(path); err != nil {
		return err
	}
	if err := os.Rename(path, d.file(databaseFile)); err != nil {
		return err
	}
	crashpoint.At("sqlite.named", nil)
	return atomicfile.Sync(d.path)
}

// initialise creates the current schema in an empty database. It needs no sync: create
// syncs the file before it renames it.
func (s settings) initialise(ctx context.Context, path string) (err error) {
	db, err := s.writerPool(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// removeNew removes the remains of an interrupted create.
func (d *directory) removeNew() error {
	for _, suffix := range sqliteSuffixes {
		if err := os.Remove(d.file(newFile + suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
