package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestACrowdThatNeedsUnknownRowsAndCountsIsServed: each function sees those that ran before it,
// and none is lost, in one store or in three.
func TestACrowdThatNeedsUnknownRowsAndCountsIsServed(t *testing.T) {
	callers, each := 24, 8
	if testing.Short() {
		each = 4
	}
	for _, stores := range []int{1, 3} {
		for _, far := range []bool{false, true} {
			crowd(t, stores, far, callers, each)
		}
	}
}

func crowd(t *testing.T, stores int, far bool, callers, each int) {
	t.Run(fmt.Sprint(stores, far), func(t *testing.T) {
		all := openManyAt(t, pgtest.Database(t), stores, far)
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[int]bool{}
		for caller := range callers {
			wg.Go(func() {
				for i := range each {
					n := 0
					err := all[caller%stores].Update(context.Background(), func(tx store.Tx) (err error) {
						id := fmt.Sprintf("%d-%d", caller, i)
						if _, err := tx.Get(store.Claims, "acme", id); !errors.Is(err, store.ErrNotFound) {
							return fmt.Errorf("claim %s: %w", id, err)
						}
						if n, err = tx.Count(store.Unfinished, store.Realm, store.Query{Where: []store.Filter{store.Equal("state", "active")}}); err != nil {
							return err
						}
						if err := tx.Put(store.Claims, "acme", store.Row{ID: id, Doc: []byte("{}")}, 0); err != nil {
							return err
						}
						return tx.Put(store.Unfinished, store.Realm, store.Row{ID: id, Doc: []byte("{}"), Keys: []any{"acme", "active", int64(1), int64(0)}}, 0)
					})
					if err != nil {
						t.Errorf("Update: %v", err)
					}
					mu.Lock()
					if seen[n] {
						t.Errorf("two functions counted %d", n)
					}
					seen[n] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != callers*each {
			t.Errorf("%d counts were seen", len(seen))
		}
	})
}

// openManyAt opens stores that are far from their database, or not, whatever it is.
func openManyAt(t *testing.T, url string, n int, far bool) (all []*Store) {
	t.Helper()
	for range n {
		s := mustOpen(t, url)
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			s.writer.settings.far = far
			return nil
		}))
		all = append(all, s)
	}
	return all
}
