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
	const callers, each = 24, 8
	for _, stores := range []int{1, 3} {
		t.Run(fmt.Sprint(stores), func(t *testing.T) {
			all := openMany(t, pgtest.Database(t), stores)
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
}
