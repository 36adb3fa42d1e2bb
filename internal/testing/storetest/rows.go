package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

func getMissingIsNotFound(t *testing.T, s store.Store) {
	_, err := get(t, s, "nobody")
	wantErr(t, err, store.ErrNotFound)
}

func getReturnsWhatWasPut(t *testing.T, s store.Store) {
	want := run("run-1", 7, "READY", "plan-1", "eu")
	put(t, s, want)
	got, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	want.Version = 1
	wantSame(t, got, want)
}

func rowsReturnedAreTheCallers(t *testing.T, s store.Store) {
	mine := simple("run-1")
	want := string(mine.Doc)
	put(t, s, mine)
	mine.Doc[0] = 'X'
	for range 2 {
		got, err := get(t, s, "run-1")
		wantErr(t, err, nil)
		wantSame(t, string(got.Doc), want)
		wantSame(t, got.Keys[1], any("READY"))
		got.Doc[0], got.Keys[1] = 'X', "SPOILED"
		listed := list(t, s, store.Query{})
		wantSame(t, string(listed[0].Doc), want)
		listed[0].Doc[0] = 'X'
	}
}

func putZeroOnExistingIsConflict(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	wantErr(t, putAt(s, simple("run-1"), 0), store.ErrConflict)
}

func putStaleVersionIsConflict(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	wantErr(t, putAt(s, simple("run-1"), 1), nil)
	for _, stale := range []int64{1, 0, -1, 3} {
		wantErr(t, putAt(s, simple("run-1"), stale), store.ErrConflict)
	}
	got, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, got.Version, int64(2))
}

func putOnMissingIsConflict(t *testing.T, s store.Store) {
	for _, expected := range []int64{1, 2, -1} {
		wantErr(t, putAt(s, simple("run-1"), expected), store.ErrConflict)
	}
}

func conflictWritesNothing(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	update(t, s, func(tx store.Tx) error {
		wantErr(t, tx.Put(store.Runs, tenant, run("run-1", 9, "LOST", "", ""), 0), store.ErrConflict)
		wantErr(t, tx.Put(store.Runs, tenant, run("run-1", 9, "LOST", "", ""), 5), store.ErrConflict)
		return tx.Put(store.Runs, tenant, simple("run-2"), 0)
	})
	rows := list(t, s, store.Query{})
	wantSame(t, ids(rows), []string{"run-1", "run-2"})
	wantSame(t, rows[0].Keys[1], any("READY"))
}

func putIgnoresTheRowsVersion(t *testing.T, s store.Store) {
	row := simple("run-1")
	row.Version = 41
	put(t, s, row)
	got, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, got.Version, int64(1))
}

func putChangesColumns(t *testing.T, s store.Store) {
	put(t, s, run("run-1", 1, "READY", "plan-1", "eu"))
	wantErr(t, putAt(s, run("run-1", 2, "RUNNING", "plan-2", "us"), 1), nil)
	wantErr(t, putAt(s, run("run-1", 2, "RUNNING", "plan-2", "us"), 2), nil)
	for column, values := range map[string][2]any{
		"created": {int64(1), int64(2)}, "status": {"READY", "RUNNING"}, "plan": {"plan-1", "plan-2"}, "scope": {"eu", "us"},
		"agent": {"eu clerk", "us clerk"},
	} {
		wantSame(t, ids(list(t, s, store.Query{Where: []store.Filter{store.Equal(column, values[0])}})), []string{})
		wantSame(t, ids(list(t, s, store.Query{Where: []store.Filter{store.Equal(column, values[1])}})), []string{"run-1"})
	}
}

func putOfWrongKeysIsRefused(t *testing.T, s store.Store) {
	type status string
	for name, keys := range map[string][]any{
		"none":         nil,
		"too few":      {int64(1), "READY", "plan-1", "eu"},
		"int":          {1, "READY", "plan-1", "eu", "clerk"},
		"swapped":      {"READY", int64(1), "plan-1", "eu", "clerk"},
		"named string": {int64(1), status("READY"), "plan-1", "eu", "clerk"},
		"null":         {int64(1), nil, "plan-1", "eu", "clerk"},
	} {
		if err := putAt(s, store.Row{ID: "run-1", Keys: keys, Doc: []byte("{}")}, 0); err == nil {
			t.Errorf("keys %q were taken", name)
		}
	}
	wantSame(t, ids(list(t, s, store.Query{})), []string{})
}

func deleteRemovesAndRepeatsQuietly(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"), simple("run-2"))
	for range 2 {
		update(t, s, func(tx store.Tx) error { return tx.Delete(store.Runs, tenant, "run-1") })
		wantSame(t, ids(list(t, s, store.Query{})), []string{"run-2"})
	}
	put(t, s, simple("run-1")) // a deleted row is expected at version 0 again
}

func documentsKeepEveryByte(t *testing.T, s store.Store) {
	docs := []string{
		``, `{}`, `{"b":1,"a":2,"a":3}`, `{"n":9007199254740993,"x":1.0e0}`, `"\u0000 \ud83d\ude00 <>&"`,
		"{\"z\":\"é漢😀\u2028\"}", "  [1,\n2]\t", `{"big":"` + strings.Repeat("x", 300_000) + `"}`,
	}
	for i, doc := range docs {
		row := store.Row{ID: "model-" + string(rune('a'+i)), Doc: []byte(doc)}
		update(t, s, func(tx store.Tx) error { return tx.Put(store.Tenants, tenant, row, 0) })
		view(t, s, func(tx store.Tx) error {
			got, err := tx.Get(store.Tenants, tenant, row.ID)
			wantErr(t, err, nil)
			wantSame(t, string(got.Doc), doc)
			return nil
		})
	}
}

func tenantsAreApart(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	for _, other := range []string{"acme-eu", "acm", "ACME", store.Realm} {
		update(t, s, func(tx store.Tx) error {
			_, err := tx.Get(store.Runs, other, "run-1")
			wantErr(t, err, store.ErrNotFound)
			wantErr(t, tx.Put(store.Runs, other, simple("run-1"), 1), store.ErrConflict)
			n, err := tx.Count(store.Runs, other, store.Query{})
			wantErr(t, err, nil)
			wantSame(t, n, 0)
			return tx.Delete(store.Runs, other, "run-1")
		})
	}
	_, err := get(t, s, "run-1")
	wantErr(t, err, nil)
}

func putAt(s store.Store, row store.Row, expected int64) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		return tx.Put(store.Runs, tenant, row, expected)
	})
}
