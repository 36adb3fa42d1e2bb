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

// TestAReadThatFailsClaimsNothingOfChanges, in its answer.
func TestAReadThatFailsClaimsNothingOfChanges(t *testing.T) {
	h := open(t)
	a := as("acme")
	blind := &blinded{Store: h.store}
	blind.written.Store(true)
	if _, err := h.on(blind).Runs(background, a, control.List{Limit: 1}, control.RunFilter{}); err == nil || err.Error() != "unavailable: the store is unavailable now; try again" {
		t.Errorf("the answer to a read: %v", err)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	if _, err := h.service.Runs(ended, a, control.List{Limit: 1}, control.RunFilter{}); err == nil || err.Error() != "unavailable: the request ended before it was answered" {
		t.Errorf("the answer to a read that ended: %v", err)
	}
}

// TestAChangeThatIsMadeIsAnsweredAlsoWhereTheStoreCantBeRead, with all but what would have to be
// read: a person who is told of a failure decides or reconciles again.
func TestAChangeThatIsMadeIsAnsweredAlsoWhereTheStoreCantBeRead(t *testing.T) {
	h := open(t)
	service := func() *control.Service { return h.on(&blinded{Store: h.store}) }
	same := func(what string, got countersign.Run, err error) {
		t.Helper()
		h.must(err)
		want, err := h.service.Run(background, as("acme"), got.ID)
		h.must(err)
		if got.PlanSnapshot == nil {
			want.PlanSnapshot = nil
		}
		got.RequestedByName = want.RequestedByName
		for i := range want.Steps {
			if said := want.Steps[i].Reconciliation; said != nil {
				said.ByName = ""
			}
		}
		if a, b := mustMarshal(t, &got), mustMarshal(t, &want); a != b {
			t.Errorf("%s is answered\n%s\nand read\n%s", what, a, b)
		}
	}
	cancelled, err := service().CancelRun(background, as("acme"), h.started(as("acme")), "enough")
	same("a cancellation", cancelled, err)
	reconciled, err := service().ReconcileRun(background, approver("ben@acme.example"), h.oneIsUncertain(), countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "seen"})
	same("a reconciliation", reconciled, err)
	decided, err := service().Decide(background, approver("ben@acme.example"), h.oneWaits(), countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "r"})
	if h.must(err); decided.Status != countersign.ApprovalApproved || decided.DecidedBy != "user:ben@acme.example" {
		t.Errorf("the decision: %+v", decided)
	}
}

func mustMarshal(t *testing.T, r *countersign.Run) string {
	t.Helper()
	doc, err := countersign.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
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
func (f *fixture) all() (found string) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
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

// TestAChangeFailsOrIsMade: whichever read or write of the store fails, a change that is made is
// answered as made, or changes nothing when it is sent again, and one that fails has changed
// nothing. So it is for the only process of a
// store and for one of several.
func TestAChangeFailsOrIsMade(t *testing.T) {
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
			failed, made := 0, 0
			for _, change := range h.changes(ids) {
				for at := 1; ; at++ {
					f := &failing{Store: h.store, at: at}
					h.service = h.on(over(h, f))
					before := h.all()
					err := change.make()
					h.service = h.on(h.store)
					changed := h.all() != before
					if changed && err != nil && change.again {
						now := h.all()
						err = change.make()
						changed = h.all() == now
					}
					switch {
					case err != nil && (changed || f.calls < at):
						t.Errorf("%s, when call %d of the store fails: %v (something was changed: %v)", change.name, at, err, changed)
					case err != nil:
						failed++
					case f.calls >= at:
						made++
					}
					if changed || f.calls < at {
						break
					}
				}
			}
			if failed < 20 || made == 0 {
				t.Errorf("%d changes failed, and %d were made though a call of the store failed", failed, made)
			}
		})
	}
}
