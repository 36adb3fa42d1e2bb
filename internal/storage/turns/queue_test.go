package turns

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/storage/store"
)

// named is an Update with a name.
type named struct{ name string }

func (named) Serve(context.Context, func(store.Tx) error) error { return nil }

// TestOutcomesAndOthersAreTakenInTurns: as long as both wait; then what is left.
func TestOutcomesAndOthersAreTakenInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[named]()
		send := func(ctx context.Context, what string, n int) {
			for i := range n {
				go func() { q.For(ctx) <- named{fmt.Sprint(what, i)} }()
				synctest.Wait() // so that they wait in this order
			}
		}
		send(context.Background(), "other ", 5)
		send(store.Urgent(context.Background()), "outcome ", 2)
		for _, want := range []string{"outcome 0", "other 0", "outcome 1", "other 1", "other 2", "other 3", "other 4"} {
			if got, ok := q.Next(); !ok || got.name != want {
				t.Errorf("%q comes, want %q", got.name, want)
			}
		}
		if got, ok := q.Next(); ok {
			t.Errorf("%q comes, want nothing", got.name)
		}
	})
}
