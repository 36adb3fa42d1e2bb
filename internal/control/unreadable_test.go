package control_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/store"
)

// blinded is a store that can't be read any more once it was written.
type blinded struct {
	store.Store
	written atomic.Bool
}

func (b *blinded) Update(ctx context.Context, fn func(store.Tx) error) error {
	defer b.written.Store(true)
	return b.Store.Update(ctx, fn)
}

func (b *blinded) View(ctx context.Context, fn func(store.Tx) error) error {
	if b.written.Load() {
		return fmt.Errorf("%w: for a test", store.ErrUnavailable)
	}
	return b.Store.View(ctx, fn)
}

// TestAReadThatFailsClaimsNothingOfChanges: the run is cancelled, and only the answer is missing.
func TestAReadThatFailsClaimsNothingOfChanges(t *testing.T) {
	h := open(t)
	a := as("acme")
	id := h.startOne(t, a)
	_, err := h.on(&blinded{Store: h.store}).CancelRun(background, a, id, "enough")
	if err == nil || err.Error() != "unavailable: the store is unavailable now; try again" {
		t.Errorf("the answer to a cancellation that is committed: %v", err)
	}
	if r, err := h.service.Run(background, a, id); err != nil || r.Status != countersign.RunCancelled {
		t.Errorf("%s, %v", r.Status, err)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	if _, err := h.service.Runs(ended, a, control.List{Limit: 1}, control.RunFilter{}); err == nil || err.Error() != "unavailable: the request ended before it was answered" {
		t.Errorf("the answer to a read that ended: %v", err)
	}
}
