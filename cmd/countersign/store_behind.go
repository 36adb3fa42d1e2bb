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

// unmigrated refuses a store whose tables an earlier release made: to open it changes
// them, after which that release refuses it. Only a start of the service does that, so
// that a tool that fails leaves the way back.
func unmigrated(ctx context.Context, address string) error {
	behind, err := isBehind(ctx, address)
	if err == nil && behind {
		err = cli.Unusablef("the store %s is one of an earlier release, and is left as it is: start the service of this release once on it, or use the release it is of", shownStore(address))
	}
	return err
}

// isBehind looks and changes nothing. Why a directory can't be opened at all is for who
// opens it to say.
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

// apart refuses directories that lie in each other: the one would become a part of what
// the other is backed up or moved with.
func (c *copyCommand) apart() error {
	if isShared(c.From) || isShared(c.To) {
		return nil
	}
	from, to := resolved(c.From), resolved(c.To)
	if from == to || within(from, to) || within(to, from) {
		return cli.Unusablef("%s and %s are the same directory, or one lies in the other: give another place", c.From, c.To)
	}
	return nil
}

func within(inner, outer string) bool {
	rest, err := filepath.Rel(outer, inner)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// resolved is where a path leads to, as far as there is something.
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
