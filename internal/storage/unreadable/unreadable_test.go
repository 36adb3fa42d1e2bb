package unreadable_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/memory"
)

// TestNoErrorOfOneTenantKeepsAnotherWaiting: whatever the error, each tenant has its turn, and
// those whose error doesn't lie in a record are told.
func TestNoErrorOfOneTenantKeepsAnotherWaiting(t *testing.T) {
	s, all := memory.New(), []string{"a", "b", "c"}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		var failed error
		for _, id := range all {
			_, err := records.Tenants.Put(tx, store.Realm, id, &countersign.Tenant{ID: id}, 0)
			failed = errors.Join(failed, err)
		}
		return failed
	})
	if err != nil {
		t.Fatal(err)
	}
	odd := errors.New("odd")
	for _, failing := range []error{odd, store.ErrUnavailable, store.ErrDamaged, store.ErrNotFound} {
		var served []string
		err := unreadable.New(slog.New(slog.DiscardHandler)).EachTenant(t.Context(), s, "test", func(tenant string) error {
			served = append(served, tenant)
			if tenant == "c" {
				return nil
			}
			return failing
		})
		slices.Sort(served)
		if !slices.Equal(served, all) {
			t.Errorf("%v: only %v had a turn", failing, served)
		}
		if told := errors.Is(err, failing); told == unreadable.Is(failing) {
			t.Errorf("%v: told %v", failing, err)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	served := 0
	err = unreadable.New(slog.New(slog.DiscardHandler)).EachTenant(ctx, s, "test", func(string) error {
		served++
		end()
		return nil
	})
	if served != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %d had a turn, %v", served, err)
	}
}
