// Package rerun is a store for tests that runs functions more than once, as an engine may after a lost
// connection: it discards what the first run wrote, and waiting functions may run in between. That
// reveals functions that keep something of their first run.
package rerun

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// Whole is a first run that is complete before its connection is lost.
const Whole = -1

// Store runs every function twice on the store below.
type Store struct {
	store.Store
	lose func() int
}

// New makes such a store. lose decides for each function about its first run: 0 means no first run, n
// that the connection is lost at its n-th operation, and Whole that it is complete. The store implements store.Changing if below does.
func New(below store.Store, lose func() int) store.Store {
	s := &Store{below, lose}
	if changing, knows := below.(store.Changing); knows {
		return struct {
			*Store
			store.Changing
		}{s, changing}
	}
	return s
}

// Always makes a store that completes the first run of every function.
func Always(below store.Store) store.Store { return New(below, func() int { return Whole }) }

var errLost = errors.New("again: the connection was lost")

// View implements store.Store.
func (s *Store) View(ctx context.Context, fn func(store.Tx) error) error {
	return twice(ctx, s.Store.View, s.lose(), fn)
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	return twice(ctx, s.Store.Update, s.lose(), fn)
}

type transaction func(ctx context.Context, fn func(store.Tx) error) error

func twice(ctx context.Context, begin transaction, after int, fn func(store.Tx) error) error {
	if after == 0 {
		return begin(ctx, fn)
	}
	err := begin(ctx, func(tx store.Tx) error {
		_ = fn(&lostTx{tx, after}) // the error of the lost run is not returned
		return errLost
	})
	if !errors.Is(err, errLost) {
		return err
	}
	return begin(context.WithoutCancel(ctx), fn) // the second run doesn't wait for its turn again
}

// lostTx is a transaction whose connection is lost after some operations.
type lostTx struct {
	store.Tx
	left int
}

// alive counts an operation, and reports whether the connection still exists.
func (t *lostTx) alive() bool {
	if t.left > 0 {
		t.left--
	}
	return t.left != 0
}

// Get implements store.Tx.
func (t *lostTx) Get(table *store.Table, tenant, id string) (store.Row, error) {
	if !t.alive() {
		return store.Row{}, errLost
	}
	return t.Tx.Get(table, tenant, id)
}

// Put implements store.Tx.
func (t *lostTx) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if !t.alive() {
		return errLost
	}
	return t.Tx.Put(table, tenant, row, expected)
}

// Delete implements store.Tx.
func (t *lostTx) Delete(table *store.Table, tenant, id string) error {
	if !t.alive() {
		return errLost
	}
	return t.Tx.Delete(table, tenant, id)
}

// List implements store.Tx.
func (t *lostTx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if !t.alive() {
		return nil, errLost
	}
	return t.Tx.List(table, tenant, q)
}

// Count implements store.Tx.
func (t *lostTx) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if !t.alive() {
		return 0, errLost
	}
	return t.Tx.Count(table, tenant, q)
}

// Distinct implements store.Tx.
func (t *lostTx) Distinct(table *store.Table, tenant, column string) ([]string, error) {
	if !t.alive() {
		return nil, errLost
	}
	return t.Tx.Distinct(table, tenant, column)
}
