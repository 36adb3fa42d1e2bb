package control_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

// readsInTurn counts what functions read in their turn to write: each is a message to a database
// elsewhere, while all other writers wait.
type readsInTurn struct {
	store.Store
	reads, rows int
}

func (r *readsInTurn) Update(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.Update(ctx, func(tx store.Tx) error { return fn(&countedReads{tx, r}) })
}

type countedReads struct {
	store.Tx
	of *readsInTurn
}

func (c *countedReads) Get(t *store.Table, tenant, id string) (store.Row, error) {
	c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+1
	return c.Tx.Get(t, tenant, id)
}

func (c *countedReads) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := c.Tx.List(t, tenant, q)
	c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+len(rows)
	return rows, err
}

// Put reads a row that it isn't told of, unless its table is guarded.
func (c *countedReads) Put(t *store.Table, tenant string, row store.Row, expected int64) error {
	if !t.Guarded && !row.New && !row.Seen {
		c.of.reads, c.of.rows = c.of.reads+1, c.of.rows+1
	}
	return c.Tx.Put(t, tenant, row, expected)
}

// TestAManifestReadsLittleInItsTurn, however many agents and models it has: what it changes was
// found before.
func TestAManifestReadsLittleInItsTurn(t *testing.T) {
	h := open(t)
	const many = 60
	revisions := make([]int64, many)
	for i := range many {
		h.must(h.putModel(as("acme"), fmt.Sprint("of", i), 0))
	}
	crowd := func(changed func(i int) bool, revision int64) (items []countersign.ManifestAgent) {
		for i := range many {
			if changed(i) {
				revisions[i] = revision
			}
			items = append(items, item(fmt.Sprint("a", i), modelled(fmt.Sprint("of", i)), at(revisions[i])))
		}
		return items
	}
	counted := &readsInTurn{Store: h.store.Store}
	h.service = h.on(counted)
	for n, c := range []struct {
		what    string
		changed func(i int) bool
	}{
		{"all are new", func(int) bool { return true }},
		{"all change", func(int) bool { return true }},
		{"half of them change", func(i int) bool { return i%2 == 0 }},
	} {
		counted.reads, counted.rows = 0, 0
		h.sync(crowd(c.changed, int64(n+1))...)
		// The function is called twice. It sees the models, an agent of each, and the agents that
		// stay as they are.
		if counted.reads > 2*10 || counted.rows > 2*(5*many/2+10) {
			t.Errorf("%s: %d reads of %d rows", c.what, counted.reads, counted.rows)
		}
	}
}
