// Package leveled closes a store to earlier releases before the first record is written that
// they don't know: they would drop what they can't read, or judge a run by rules that it
// isn't judged by. As long as there is none, an earlier release may be put back.
package leveled

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// New makes a store on another one, of the engine's level. It knows of changes what the one
// below knows.
func New(below store.Store, engine store.Leveled, log *slog.Logger) store.Store {
	s := &leveled{Store: below, engine: engine, log: log}
	if changing, knows := below.(store.Changing); knows {
		return struct {
			*leveled
			store.Changing
		}{s, changing}
	}
	return s
}

type leveled struct {
	store.Store
	engine store.Leveled
	log    *slog.Logger
}

// errNeedsLevel ends a function that would write a record of the third edition.
var errNeedsLevel = errors.New("the store is not closed to earlier releases yet")

// Update implements store.Store. A function that writes a record of the third edition into a
// store that is open to earlier releases is undone, and runs again once the store is closed:
// the record is never there without that.
func (l *leveled) Update(ctx context.Context, fn func(store.Tx) error) error {
	if l.engine.Raised() {
		return l.Store.Update(ctx, fn)
	}
	err := l.Store.Update(ctx, func(below store.Tx) error { return fn(tx{below}) })
	if !errors.Is(err, errNeedsLevel) {
		return err
	}
	if err := l.engine.Raise(ctx); err != nil {
		return err
	}
	l.log.InfoContext(ctx, "the store is closed to earlier releases: it holds records that they don't know from now on")
	return l.Store.Update(ctx, fn)
}

// tx refuses records of the third edition.
type tx struct{ store.Tx }

// Put implements store.Tx.
func (t tx) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if row.Edition > 0 {
		return errNeedsLevel
	}
	return t.Tx.Put(table, tenant, row, expected)
}

// Look implements store.Looker.
func (t tx) Look(table *store.Table, tenant, id string) (store.Row, error) {
	return store.Look(t.Tx, table, tenant, id)
}

// AtTurn implements store.Turner.
func (t tx) AtTurn(fn func(at store.Tx, waited time.Duration) error) bool {
	below, is := t.Tx.(store.Turner)
	return is && below.AtTurn(func(at store.Tx, waited time.Duration) error { return fn(tx{at}, waited) })
}

// Carry closes the target of a copy as its source is.
func Carry(ctx context.Context, from, to store.Store) error {
	source, is := from.(store.Leveled)
	target, can := to.(store.Leveled)
	if !is || !source.Raised() || !can {
		return nil
	}
	return target.Raise(ctx)
}
