package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/storage/leveled"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
	"github.com/countersign/countersign/internal/tools/transfer"
)

// isShared reports whether several replicas may use a store: a PostgreSQL database, not a directory.
func isShared(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// leveledStore is a store of one of the two engines.
type leveledStore interface {
	store.Store
	store.Leveled
}

// toWrite is a store that closes itself to earlier releases when it has to.
func toWrite(st leveledStore) store.Store { return leveled.New(st, st, slog.Default()) }

// openStore opens the store of the settings. It refuses the target of an incomplete copy, and
// a store that was copied.
func openStore(ctx context.Context, address string) (leveledStore, error) {
	return openUnless(ctx, address, refuseCopied)
}

// openUnless opens a store that a check doesn't refuse.
func openUnless(ctx context.Context, address string, refuse func(context.Context, store.Store, string) error) (leveledStore, error) {
	st, err := openAny(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := refuse(ctx, st, address); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

func openAny(ctx context.Context, address string) (leveledStore, error) {
	if isShared(address) {
		return postgres.Open(ctx, address)
	}
	left, err := sqlite.BrokenOff(address)
	if err != nil {
		return nil, err
	}
	if left != "" {
		return nil, cli.Unusablef("there is no store at %s, and %s is what is left of a copy or a restore that was broken off, or goes on: let it end or make it again; to begin with an empty store, remove what is left", address, left)
	}
	return sqlite.Open(ctx, address)
}

// refuseHalfCopied refuses the target of an incomplete copy.
func refuseHalfCopied(ctx context.Context, st store.Store, address string) error {
	err := transfer.Complete(ctx, st)
	if errors.Is(err, transfer.ErrIncomplete) {
		return cli.Unusablef("the store %s is the target of a copy that is not complete: let 'countersign store copy' end, or drop the database and copy again", shownStore(address))
	}
	return err
}

// refuseCopied refuses the target of an incomplete copy, and a store that was copied: what is
// unfinished in it goes on in the copy, or would on both.
func refuseCopied(ctx context.Context, st store.Store, address string) error {
	if err := refuseHalfCopied(ctx, st, address); err != nil {
		return err
	}
	copied, err := copiedTo(ctx, st)
	if err == nil && copied != nil {
		err = cli.RefusedError{Reason: fmt.Sprintf("the store %s %s: %s", shownStore(address), wasCopied(copied), useTheCopy)}
	}
	return err
}

// useTheCopy is what to do about a store that was copied.
const useTheCopy = "start the service on the copy. If that is never used any more, 'countersign store reopen --reason WHY' makes this store safe to start"

func wasCopied(c *records.Copied) string {
	words := "was copied to"
	if !c.Complete {
		words = "began to be copied to"
	}
	return fmt.Sprintf("%s %s at %s", words, c.To, c.At.UTC().Format(time.RFC3339))
}

// copiedTo reads the mark of a store that was copied, nil if there is none.
func copiedTo(ctx context.Context, st transfer.Viewer) (copied *records.Copied, err error) {
	err = st.View(ctx, func(tx store.Tx) (err error) { copied, err = records.CopiedTo(tx); return err })
	return copied, err
}

// shownStore is a store's address without its password.
func shownStore(address string) string {
	if !isShared(address) {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "postgres"
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// directoryOnly refuses a database for commands that need the embedded store.
func directoryOnly(address, instead string) error {
	if isShared(address) {
		return cli.Unusablef("the store is a PostgreSQL database: %s", instead)
	}
	return nil
}
