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

// Restore creates a store from a backup in a directory that is missing or empty. before
// may change the store while it still has a temporary name: no process can start on it
// earlier, and a restore that is interrupted leaves the directory as it was.
func Restore(ctx context.Context, file, dir string, before func(*Store) error) error {
	return build(dir, restoring, func(staging string) error { return stage(ctx, file, staging, before) })
}

// Make creates a store in a directory that is missing or empty. fill may write to it while
// it still has a temporary name: a Make that fails or is interrupted leaves the directory
// as it was.
func Make(ctx context.Context, dir string, fill func(*Store) error) error {
	return build(dir, making, func(staging string) error { return filled(ctx, staging, fill) })
}

// What the directory of a store that is being built ends with.
const (
	restoring = ".restoring"
	making    = ".making"
)

// BrokenOff is what is left of a copy or a restore into a directory that was interrupted, or
// that is going on; "" if there is none, or a store in its place.
func BrokenOff(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil || vacant(dir) != nil {
		return "", err
	}
	for _, suffix := range []string{restoring, making} {
		if _, err := os.Stat(dir + suffix); err == nil {
			return dir + suffix, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// ErrOccupied is the answer about a directory that is not empty.
var ErrOccupied = errors.New("not empty")

// build renames a store into place once it is complete.
func build(dir, suffix string, stage func(staging string) error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := vacant(dir); err != nil {
		return err
	}
	staging := dir + suffix
	if err := os.RemoveAll(staging); err != nil { // of an interrupted build
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
