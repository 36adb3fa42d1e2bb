package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/platform/atomicfile"
)

// Restore makes a store of a backup in a directory that is missing or empty.
// before is given the store while it stands beside its place under another name,
// and is committed before anybody can start on it: a restore that dies leaves the
// directory as it was.
func Restore(ctx context.Context, file, dir string, before func(*Store) error) error {
	return build(dir, ".restoring", func(staging string) error { return stage(ctx, file, staging, before) })
}

// Make makes a store in a directory that is missing or empty. fill is given the
// store while it stands beside its place under another name: one that fails or dies
// leaves the directory as it was.
func Make(ctx context.Context, dir string, fill func(*Store) error) error {
	return build(dir, ".making", func(staging string) error { return filled(ctx, staging, fill) })
}

// ErrOccupied refuses a directory that something would be lost in.
var ErrOccupied = errors.New("not empty")

// build lets a store come to its place when it is complete.
func build(dir, suffix string, stage func(staging string) error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := vacant(dir); err != nil {
		return err
	}
	staging := dir + suffix
	if err := os.RemoveAll(staging); err != nil { // of one that died
		return err
	}
	if err := makeDirectory(staging); err != nil {
		return err
	}
	if err := stage(staging); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(staging, dir), atomicfile.Sync(filepath.Dir(dir)))
}

func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is %w, and nothing is ever written over: give another directory, or move this one away", dir, ErrOccupied)
	}
	return nil
}

func stage(ctx context.Context, file, dir string, before func(*Store) error) error {
	if err := copyFile(file, filepath.Join(dir, databaseFile)); err != nil {
		return err
	}
	return filled(ctx, dir, before)
}

func filled(ctx context.Context, dir string, fill func(*Store) error) error {
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(fill(s), s.Close())
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
