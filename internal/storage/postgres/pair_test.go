package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/internal/testing/storetest"
)

// pair is two stores on one database, used in turn: together they must keep the
// law of one.
type pair struct {
	stores [2]*Store
	turns  atomic.Int64
}

func (p *pair) next() *Store { return p.stores[p.turns.Add(1)%2] }

func (p *pair) View(ctx context.Context, fn func(store.Tx) error) error {
	return p.next().View(ctx, fn)
}

func (p *pair) Update(ctx context.Context, fn func(store.Tx) error) error {
	return p.next().Update(ctx, fn)
}

func (p *pair) Failed() <-chan struct{} { return p.stores[0].Failed() }
func (p *pair) Full() bool              { return p.stores[0].Full() }
func (p *pair) Close() error            { return errors.Join(p.stores[0].Close(), p.stores[1].Close()) }

func TestConformanceOfTwoStoresOnOneDatabase(t *testing.T) {
	url := pgtest.Database(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return &pair{stores: [2]*Store{mustOpenEmpty(t, url), mustOpen(t, url)}}
	})
}
