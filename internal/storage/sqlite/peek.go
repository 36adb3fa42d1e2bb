package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/countersign/countersign/internal/storage/store"
)

// ErrBehind is the answer about a store whose tables a start of this release would
// change first.
var ErrBehind = errors.New("the store was last written by an earlier release; this one changes its tables at its first start")

// Peek calls fn with one snapshot of the store in a directory, also while a service uses
// it, and changes nothing in it.
func Peek(ctx context.Context, dir string, fn func(store.Tx) error) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	leave, _, err := visit(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	db, err := defaults().readerPool(filepath.Join(dir, databaseFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	known, err := knownMigration(db)
	if err != nil {
		return err
	}
	if err := checkRelease(ctx, db, known); err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	var behind bool
	if err := db.QueryRowContext(ctx, "SELECT MAX(version_id) < ? FROM goose_db_version", known).Scan(&behind); err != nil {
		return fmt.Errorf("store %s: %w", dir, unreadable(err))
	}
	if behind {
		return ErrBehind
	}
	ahead, err := readAhead(ctx, dir)
	if err != nil {
		return err
	}
	conn, err := pin(ctx, db, filepath.Join(dir, databaseFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return ahead.view(conn, fn)
}
