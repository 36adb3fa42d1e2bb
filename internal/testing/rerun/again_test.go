package rerun_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

func TestAFunctionThatRunsAgainChangesTheStoreOnce(t *testing.T) {
	for _, lost := range []int{0, rerun.Whole, 1, 2, 3} {
		s := rerun.New(memory.New(), func() int { return lost })
		for version := range int64(2) {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				row := store.Row{ID: "a", Doc: []byte(`{}`)}
				if err := tx.Put(store.Meta, store.Realm, row, version); err != nil {
					return err
				}
				row, err := tx.Get(store.Meta, store.Realm, "a")
				if err == nil && row.Version != version+1 {
					t.Errorf("lost at %d: version %d", lost, row.Version)
				}
				return err
			})
			if err != nil {
				t.Errorf("lost at %d: %v", lost, err)
			}
		}
	}
}

// TestWhatAFunctionKeepsOfItsFirstRunShows: also what it did before the connection was lost.
func TestWhatAFunctionKeepsOfItsFirstRunShows(t *testing.T) {
	for lost, want := range map[int][]string{0: {"a", "b"}, rerun.Whole: {"a", "b", "a", "b"}, 2: {"a", "a", "b"}} {
		s := rerun.New(memory.New(), func() int { return lost })
		var kept []string
		err := s.Update(context.Background(), func(tx store.Tx) error {
			for _, id := range []string{"a", "b"} {
				if _, err := tx.Get(store.Meta, store.Realm, id); !errors.Is(err, store.ErrNotFound) {
					return err
				}
				kept = append(kept, id)
			}
			return nil
		})
		if err != nil || !slices.Equal(kept, want) {
			t.Errorf("lost at %d: %v, %v", lost, kept, err)
		}
	}
}
