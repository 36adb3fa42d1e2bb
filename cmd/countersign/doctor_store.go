package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/transfer"
)

// checkStore checks the store and, if it is intact, its audit logs.
func checkStore(ctx context.Context, cfg config, all bool) (found []finding) {
	if isShared(cfg.Store) {
		found = checkDatabase(ctx, cfg.Store)
	} else {
		found = checkDirectory(ctx, cfg, all)
	}
	for _, f := range found {
		if f.State == findingBroken && f.Check == "store" {
			return found
		}
	}
	found = append(found, checkRecords(ctx, cfg.Store, all)...)
	return append(found, checkAudit(ctx, cfg.Store, all)...)
}

// checkCopied says that serve refuses the store, since it was copied.
func checkCopied(ctx context.Context, st transfer.Viewer) []finding {
	copied, err := copiedTo(ctx, st)
	switch {
	case errors.Is(err, sqlite.ErrBehind):
		return nil // an earlier release marks none
	case err != nil:
		return []finding{bad("copy", "look again", "%v", err)}
	case copied != nil:
		return []finding{bad("copy", useTheCopy, "the store %s", wasCopied(copied))}
	}
	return nil
}

// peeked is a stopped or running store, as Peek reads it.
type peeked string

// View implements transfer.Viewer.
func (p peeked) View(ctx context.Context, fn func(store.Tx) error) error {
	_, err := peek(ctx, string(p), fn)
	return err
}

// checkDirectory checks the directory, reads the store's pages as a start would, and compares the
// clock with the files' times.
func checkDirectory(ctx context.Context, cfg config, all bool) []finding {
	sight, err := sqlite.Look(cfg.Store)
	switch {
	case err != nil:
		return []finding{bad("store", "restore it from a backup (countersign restore), or correct what the line says", "%v", err)}
	case !sight.Exists:
		if left, err := sqlite.BrokenOff(cfg.Store); err != nil || left != "" {
			return []finding{bad("store", "let it end or make it again; to begin with an empty store, remove what is left", "none at %s, and %s is what is left of a copy or a restore", cfg.Store, cmp.Or(left, fmt.Sprint(err)))}
		}
		return []finding{warn("store", "'countersign serve' makes it at its first start; if there should be one, look at SVC_PLATFORM_STORE", "none at %s", cfg.Store)}
	}
	use := "stopped"
	if sight.InUse {
		use = "in use by a process"
	}
	whole, err := sqlite.Check(ctx, cfg.Store, all)
	if err != nil {
		return []finding{bad("store", "restore it from a backup (countersign restore), or correct what the line says", "%s %v", cfg.Store, err)}
	}
	read := "every page is as it was written"
	if !whole {
		read = "its first and last page are as they were written; --all reads the others"
	}
	found := append([]finding{fine("store", "%s, %s, %s, %s", cfg.Store, mebibytes(sight.Bytes), use, read)}, checkCopied(ctx, peeked(cfg.Store))...)
	if ahead := time.Until(sight.Written); ahead > time.Minute {
		return append(found, bad("clock", "set the clock: approvals and tokens end by it", "the store was written at %s, %s from now", sight.Written.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
	return append(found, fine("clock", "%s, not before the store's last change", now().Format(time.RFC3339)))
}

const (
	littleSpace = 1 << 30
	noSpace     = 64 << 20
)

// checkSpace checks the free space on the store's disk. A database's disk belongs to its server.
func checkSpace(_ context.Context, cfg config) []finding {
	if isShared(cfg.Store) {
		return nil
	}
	free, err := freeSpace(existing(cfg.Store))
	const do = "make room: without space writes are refused, and a call in flight can only just be finished"
	switch {
	case err != nil:
		return []finding{warn("disk", "look by hand", "free space is not known: %v", err)}
	case free < noSpace:
		return []finding{bad("disk", do, "%s free", mebibytes(free))}
	case free < littleSpace:
		return []finding{warn("disk", do, "%s free", mebibytes(free))}
	}
	return []finding{fine("disk", "%s free", mebibytes(free))}
}

// existing is the nearest existing folder above a path.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
