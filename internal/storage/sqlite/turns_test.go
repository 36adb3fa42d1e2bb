package sqlite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestOutcomesAndOthersTakeTurns: neither an outcome nor anything else waits behind all that
// waited before it of the other kind. Where starts are refused since no slot is free, and come
// again, steps would otherwise hold their slots the longer the more starts there are.
func TestOutcomesAndOthersTakeTurns(t *testing.T) {
	for name, c := range map[string]struct{ first, last context.Context }{
		"an outcome behind others":  {context.Background(), store.Urgent(context.Background())},
		"something behind outcomes": {store.Urgent(context.Background()), context.Background()},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := mustOpen(t, emptyStore(t))
			const many = 3 * maxBatch
			served, place := 0, 0
			var waits sync.WaitGroup
			wait := func(ctx context.Context, fn func()) {
				waits.Go(func() {
					if err := s.Update(ctx, func(store.Tx) error { served++; fn(); return errRefused }); !errors.Is(err, errRefused) {
						t.Errorf("%s: an Update returned %v", name, err)
					}
				})
			}
			mustDo(t, s.Update(context.Background(), func(store.Tx) error {
				for range many {
					wait(c.first, func() {})
				}
				synctest.Wait()
				wait(c.last, func() { place = served })
				synctest.Wait()
				return nil
			}))
			waits.Wait()
			if place > 2 {
				t.Errorf("%s: it was number %d of %d", name, place, many+1)
			}
		})
	}
}

var errRefused = errors.New("refused")
