package control_test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ofAnOlderRelease leaves so many revisions and no count of them.
func (f *fixture) ofAnOlderRelease(tenant string, revisions int) {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		for i := range revisions {
			row := store.Row{ID: records.RevisionID("old", int64(i+1)), Doc: fmt.Append(nil, `{"of":"`, i, `"}`)}
			if err := tx.Put(store.ModelRevisions, tenant, row, 0); err != nil {
				return err
			}
		}
		if _, err := records.Tenants.Put(tx, store.Realm, tenant, &countersign.Tenant{ID: tenant}, 0); err != nil {
			return err
		}
		return records.ModelSizes.Delete(tx, store.Realm, records.ModelBytesID(tenant))
	}))
}

// sizes are what a tenant's models take, and what is counted of it.
func (f *fixture) sizes(tenant string) (held, counted int64, all bool) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(store.ModelRevisions, tenant, store.Query{})
		held = 0
		for _, row := range rows {
			held += int64(len(row.Doc))
		}
		if err != nil {
			return err
		}
		rec, _, err := records.ModelSizes.Get(tx, store.Realm, records.ModelBytesID(tenant))
		if err == nil {
			counted, all = rec.Bytes, rec.Upto == nil
		}
		return err
	}))
	return held, counted, all
}

// TestAModelsWriteCountsNothingOfAnOlderRelease while everybody waits.
func TestAModelsWriteCountsNothingOfAnOlderRelease(t *testing.T) {
	h := open(t)
	h.ofAnOlderRelease("acme", 600)
	reads := &readsCounted{Store: h.store.Store, table: store.ModelRevisions}
	h.store.Store = reads
	h.must(h.putModel(as("acme"), "m1", 1))
	if n := reads.updating.Load(); n > 4 { // a function may be called twice
		t.Errorf("the write of a model read revisions %d times", n)
	}
	reads.updating.Store(0)
	h.must(h.service.CountModels(background))
	held, counted, all := h.sizes("acme")
	if !all || held != counted || reads.updating.Load() > 0 {
		t.Errorf("%d bytes are counted (all: %t), and %d held; revisions were read %d times in transactions", counted, all, held, reads.updating.Load())
	}
}

// TestModelsAreCountedWhileOthersWrite: a write comes between each span and its place in
// the store, before and behind what is counted.
func TestModelsAreCountedWhileOthersWrite(t *testing.T) {
	h := open(t)
	h.ofAnOlderRelease("acme", 1200)
	commits := h.store.updates.Load()
	written := 0
	var write func()
	here, other := h.service, h.on(h.store) // of a replica: the writes of this one come one after the other
	write = func() {
		h.service = other
		defer func() { h.service = here }()
		for _, id := range []string{fmt.Sprint("a-", written), fmt.Sprint("z-", written)} {
			h.must(h.putModel(as("acme"), id, 0))
		}
		if written++; written < 4 {
			h.store.before = func() { h.store.before = write } // the next commit counts undisturbed
		}
	}
	h.store.before = write
	h.must(h.service.CountModels(background))
	if held, counted, all := h.sizes("acme"); !all || held != counted {
		t.Errorf("%d bytes are counted (all: %t), and %d held", counted, all, held)
	}
	h.must(h.putModel(as("acme"), "m9", 0))
	if held, counted, _ := h.sizes("acme"); held != counted || written < 3 {
		t.Errorf("%d bytes are counted, and %d held, after %d writes amid", counted, held, written)
	}
	if n := h.store.updates.Load() - commits; n > 20 {
		t.Errorf("%d commits", n)
	}
	before := h.store.updates.Load()
	h.must(h.service.CountModels(background)) // at the next start nothing is left to count
	if n := h.store.updates.Load() - before; n != 0 {
		t.Errorf("a second count made %d commits", n)
	}
}
