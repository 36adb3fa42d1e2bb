package control_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// readsCounted counts what is read of a table in Updates and in Views.
type readsCounted struct {
	store.Store
	table           *store.Table
	updating, views atomic.Int64
}

type countedTx struct {
	store.Tx
	table *store.Table
	n     *atomic.Int64
}

func (r *readsCounted) Update(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.Update(ctx, func(tx store.Tx) error { return fn(countedTx{tx, r.table, &r.updating}) })
}

func (r *readsCounted) View(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.View(ctx, func(tx store.Tx) error { return fn(countedTx{tx, r.table, &r.views}) })
}

func (c countedTx) Get(t *store.Table, tenant, id string) (store.Row, error) {
	if t == c.table {
		c.n.Add(1)
	}
	return c.Tx.Get(t, tenant, id)
}

func (c countedTx) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if t == c.table {
		c.n.Add(1)
	}
	return c.Tx.List(t, tenant, q)
}

// TestAnEditReadsThePastOnce: many capabilities are new to it, and each of many earlier
// revisions is read once, before the transaction.
func TestAnEditReadsThePastOnce(t *testing.T) {
	h := open(t)
	reads := &readsCounted{Store: h.store.Store, table: store.ProjectRevisions}
	h.store.Store = reads
	put := func(revision int64, approval string, names ...string) error {
		w := countersign.ProjectWrite{Name: "p", Adapter: countersign.AdapterLocalEcho, ExpectedRevision: revision}
		for _, name := range names {
			w.Capabilities = append(w.Capabilities, countersign.Capability{Name: name, Method: "POST", Path: "/p", Approval: approval})
		}
		_, err := h.service.PutProject(background, as("acme"), "acme-past", w)
		return err
	}
	h.must(put(0, countersign.ApprovalAlways, "refund", "kept"))
	revision := int64(1)
	for ; revision < 30; revision++ {
		h.must(put(revision, countersign.ApprovalAlways, "kept", fmt.Sprint("other", revision)))
	}
	names := []string{"kept"}
	for i := range 50 {
		names = append(names, fmt.Sprint("new", i))
	}
	reads.updating.Store(0)
	reads.views.Store(0)
	h.must(put(revision, countersign.ApprovalAlways, names...))
	if in, before := reads.updating.Load(), reads.views.Load(); in > 2 || before > 2*revision { // a function may be called twice
		t.Errorf("the past was read %d times in the transaction, and %d times before, of %d revisions", in, before, revision)
	}
	if h.weakened() {
		t.Error("new capabilities weaken")
	}
	h.must(put(revision+1, countersign.ApprovalNone, "kept2", "refund"))
	if !h.weakened() {
		t.Error("a capability that comes back without its approval does not weaken")
	}
}

// weakened says whether the newest record about the tenant's projects is marked.
func (f *fixture) weakened() (is bool) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		page, err := audit.List(tx, "acme", audit.Filter{}, 1, 0)
		is = err == nil && page.Items[0].Weakens
		return err
	}))
	return is
}
