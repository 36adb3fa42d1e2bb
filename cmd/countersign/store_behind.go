package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
)

// unmigrated refuses a store with tables of an earlier release: opening it would change them, and
// that release would then refuse the store. Only a start of the service migrates, so that after a
// failed tool the earlier release can still be used.
func unmigrated(ctx context.Context, address string) error {
	behind, err := isBehind(ctx, address)
	if err == nil && behind {
		err = cli.Unusablef("the store %s is one of an earlier release, and is left as it is: start the service of this release once on it, or use the release it is of", shownStore(address))
	}
	return err
}

// isBehind reports whether opening would migrate the store, and changes nothing. It ignores a
// directory that can't be opened, since opening it reports why.
func isBehind(ctx context.Context, address string) (bool, error) {
	if isShared(address) {
		sight, err := lookAt(ctx, address)
		return sight.Schema > 0 && sight.Schema < sight.KnownSchema, err
	}
	sight, err := sqlite.Look(address)
	if err != nil || !sight.Exists || sight.InUse {
		return false, nil
	}
	err = sqlite.Peek(ctx, address, func(store.Tx) error { return nil })
	return errors.Is(err, sqlite.ErrBehind), nil
}

// apart refuses directories of which one contains the other: one would become part of the other's
// backup or move.
func (c *copyCommand) apart() error {
	if isShared(c.From) || isShared(c.To) {
		return nil
	}
	from, to := resolved(c.From), resolved(c.To)
	if from == to || within(from, to) || within(to, from) {
		return cli.Unusablef("%s and %s are the same directory, or one contains the other: give another directory", c.From, c.To)
	}
	return nil
}

func within(inner, outer string) bool {
	rest, err := filepath.Rel(outer, inner)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// resolved is a path with its symbolic links resolved, as far as the path exists.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}
