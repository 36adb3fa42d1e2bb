package control_test

import (
	"context"
	"fmt"
	"strings"
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

// failing is a store of which one call fails, the one with this number.
type failing struct {
	store.Store
	at, calls int
}

func (f *failing) fails() error {
	if f.calls++; f.calls == f.at {
		return fmt.Errorf("%w: for a test", store.ErrUnavailable)
	}
	return nil
}

func (f *failing) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Store.Update(ctx, fn)
}

func (f *failing) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Store.View(ctx, fn)
}

// all is everything in the store.
func (h *fixture) all() (found string) {
	h.t.Helper()
	h.must(h.store.View(background, func(tx store.Tx) error {
		found = ""
		for _, table := range store.Tables() {
			for _, tenant := range append(tenants, "gamma", store.Realm) {
				rows, err := tx.List(table, tenant, store.Query{})
				if err != nil {
					return err
				}
				for _, row := range rows {
					found += fmt.Sprintf("%s %s %s %d %s\n", table.Name, tenant, row.ID, row.Version, row.Doc)
				}
			}
		}
		return nil
	}))
	return found
}

// TestNoAnswerSaysThatNothingWasChangedWhereSomethingWas, whichever read or write of the store
// fails for each change, for the only process of a store and for one of several.
func TestNoAnswerSaysThatNothingWasChangedWhereSomethingWas(t *testing.T) {
	for name, over := range map[string]func(*fixture, *failing) store.Store{
		"alone": func(h *fixture, f *failing) store.Store {
			return struct {
				store.Store
				store.Changing
			}{f, h.store}
		},
		"one of several": func(_ *fixture, f *failing) store.Store { return f },
	} {
		t.Run(name, func(t *testing.T) {
			h, ids := crewed(t)
			h.t = t
			claims, silent := 0, 0
			for _, change := range h.changes(ids) {
				for at := 1; ; at++ {
					f := &failing{Store: h.store, at: at}
					h.service = h.on(over(h, f))
					before := h.all()
					err := change.make()
					h.service = h.on(h.store)
					changed := h.all() != before
					if f.calls < at {
						if err != nil {
							t.Errorf("%s: %v", change.name, err)
						}
						break
					}
					says := err != nil && strings.Contains(err.Error(), "nothing was changed")
					switch {
					case says && changed:
						t.Errorf("%s, call %d of the store fails, something was changed: %v", change.name, at, err)
					case says:
						claims++
					default:
						silent++
					}
					if changed {
						_ = change.make() // for what later changes need of its answer
						break
					}
				}
			}
			if claims < 20 || silent == 0 {
				t.Errorf("%d answers say that nothing was changed, and %d don't", claims, silent)
			}
		})
	}
}
