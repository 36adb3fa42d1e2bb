package projects

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign/internal/platform/semaphore"
)

// TestUploadsTakeTurnsByTenant: a document takes up to a second, so that many of one tenant
// would keep others waiting for a minute.
func TestUploadsTakeTurnsByTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		release := make(chan bool)
		c := documents{semaphore.New(1)}
		gone, hangUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		upload := func(ctx context.Context, tenant, name string, want error) {
			all.Go(func() {
				_, err := c.inTurn(ctx, tenant, func() (proposal, error) {
					order = append(order, name)
					<-release
					return proposal{}, nil
				})
				if !errors.Is(err, want) {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
		}
		upload(t.Context(), "acme", "acme 1", nil)
		upload(t.Context(), "acme", "acme 2", nil)
		upload(gone, "acme", "acme, who hung up", context.Canceled)
		upload(t.Context(), "acme", "acme 3", nil)
		upload(t.Context(), "marlow", "marlow 1", nil)
		hangUp()
		for range 4 {
			release <- true
			synctest.Wait()
		}
		all.Wait()
		if want := []string{"acme 1", "acme 2", "marlow 1", "acme 3"}; !slices.Equal(order, want) {
			t.Errorf("read in the order %q, expected %q", order, want)
		}
	})
}
