// Package rerun is a store for tests that runs functions more than once, as an
// engine may that lost its connection: what a first run wrote is thrown away, and
// whoever waits may come in between. A function that keeps something of its first
// run shows itself.
package rerun

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// Whole is a first run that comes to its end before it is lost.
const Whole = -1

// Store runs the functions of the store below it twice.
type Store struct {
	store.Store
	lose func() int
}

// New makes a store on another one. lose says of the next function what its first
// run comes to: 0, that there is none; n, that the connection is lost at its n-th
// operation; Whole. It knows of changes what the one below knows.
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

// Always makes a store that runs every function twice, whole.
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
		_ = fn(&lostTx{tx, after}) // what it says was never heard
		return errLost
	})
	if !errors.Is(err, errLost) {
		return err
	}
	return begin(context.WithoutCancel(ctx), fn) // it has had its turn
}

// lostTx is a transaction whose connection is lost after some operations.
type lostTx struct {
	store.Tx
	left int
}

// alive counts an operation.
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
