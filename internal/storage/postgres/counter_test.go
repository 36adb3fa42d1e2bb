package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// The counter is a row that Updates count up: a write that is lost, or made twice,
// shows.

func increment(tx store.Tx) error {
	row, err := tx.Get(store.Steps, "acme", "counter")
	if errors.Is(err, store.ErrNotFound) {
		row, err = store.Row{ID: "counter", Keys: []any{"run", int64(0), ""}, Doc: []byte("{}")}, nil
	}
	if err != nil {
		return err
	}
	row.Keys[1] = row.Keys[1].(int64) + 1
	return tx.Put(store.Steps, "acme", row, row.Version)
}

func count(t testing.TB, s store.Store) (n int64) {
	t.Helper()
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		row, err := tx.Get(store.Steps, "acme", "counter")
		if err == nil {
			n = row.Keys[1].(int64)
		}
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	}))
	return n
}

func wantCount(t testing.TB, s store.Store, want int64) {
	t.Helper()
	if got := count(t, s); got != want {
		t.Fatalf("the counter is at %d, want %d", got, want)
	}
}

func mustIncrement(t testing.TB, s store.Store) {
	t.Helper()
	mustDo(t, s.Update(context.Background(), increment))
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
