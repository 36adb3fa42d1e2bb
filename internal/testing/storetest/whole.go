package storetest

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

func load(s store.Store, tenant string, rows ...store.Row) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.(store.Whole).Load(store.Runs, tenant, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// at is a row with a version.
func at(row store.Row, version int64) store.Row {
	row.Version = version
	return row
}

func loadKeepsTheVersion(t *testing.T, s store.Store) {
	want := at(run("run-1", 7, "READY", "plan-1", "eu"), 41)
	wantErr(t, load(s, tenant, want), nil)
	got, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, got, want)
	wantErr(t, putAt(s, simple("run-1"), 1), store.ErrConflict)
	wantErr(t, putAt(s, simple("run-1"), 41), nil)
}

func loadOnExistingIsConflict(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	for _, version := range []int64{1, 2} {
		wantErr(t, load(s, tenant, at(run("run-1", 9, "LOST", "", ""), version)), store.ErrConflict)
	}
	got, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, got, at(simple("run-1"), 1))
}

func loadOfWrongRowIsRefused(t *testing.T, s store.Store) {
	for name, row := range map[string]store.Row{
		"no version": simple("run-1"), "negative version": at(simple("run-1"), -1), "no keys": {ID: "run-1", Version: 1, Doc: []byte("{}")},
	} {
		if err := load(s, tenant, row); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	view(t, s, func(tx store.Tx) error {
		if err := tx.(store.Whole).Load(store.Runs, tenant, at(simple("run-1"), 1)); err == nil {
			t.Error("a View loaded a row")
		}
		return nil
	})
	wantSame(t, ids(list(t, s, store.Query{})), []string{})
}

func tenantsAreSortedAndOfTheTable(t *testing.T, s store.Store) {
	wantTenants := func(want ...string) {
		t.Helper()
		view(t, s, func(tx store.Tx) error {
			got, err := tx.(store.Whole).Tenants(store.Runs)
			wantErr(t, err, nil)
			wantSame(t, got, want)
			return nil
		})
	}
	wantTenants()
	for _, name := range []string{"b", store.Realm, "a", "B", "é"} {
		wantErr(t, load(s, name, at(simple("run-1"), 1), at(simple("run-2"), 1)), nil)
	}
	update(t, s, func(tx store.Tx) error {
		return tx.Put(store.Tenants, "elsewhere", store.Row{ID: "m", Doc: []byte("{}")}, 0)
	})
	wantTenants(store.Realm, "B", "a", "b", "é")
	update(t, s, func(tx store.Tx) error {
		wantErr(t, tx.Delete(store.Runs, "a", "run-1"), nil)
		return tx.Delete(store.Runs, "a", "run-2")
	})
	wantTenants(store.Realm, "B", "b", "é")
}
