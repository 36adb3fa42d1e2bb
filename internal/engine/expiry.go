package engine

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/ledger"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/run"
	"github.com/countersign/countersign/internal/store"
)

// expiryBound is the longest the engine waits before it looks at the clock
// again: a clock that is set forward is noticed within it.
const expiryBound = 500 * time.Millisecond

// watchExpiry acts on approvals that reach their expiresAt, unasked and within
// a second.
func (e *Engine) watchExpiry() {
	for {
		e.expireDue()
		t := time.NewTimer(expiryBound)
		select {
		case <-t.C:
		case <-e.halted:
			t.Stop()
			return
		}
	}
}

func (e *Engine) expireDue() {
	for _, ref := range e.due() {
		moved, err := e.applyOnce(ref, nil, run.Expired{})
		if err != nil {
			e.log.Error("approval not expired", "tenant", ref.Tenant, "run", ref.RunID, "error", err)
			continue
		}
		e.Wake(moved.Run.Ref)
	}
}

// dueBatch bounds one look; the rest follows in the next.
const dueBatch = 100

func (e *Engine) due() []ledger.Ref {
	var refs []ledger.Ref
	now := e.ledger.Now().UnixMicro()
	err := e.store.View(context.Background(), func(tx store.Tx) error {
		refs = nil
		list, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
			Where: []store.Filter{{Column: "due", Op: store.AtLeast, Values: []any{int64(1)}}, {Column: "due", Op: store.AtMost, Values: []any{now}}},
			Order: []store.Order{{Column: "due"}}, Limit: dueBatch,
		})
		for _, u := range list {
			refs = append(refs, ledger.Ref{Tenant: u.TenantID, RunID: u.RunID})
		}
		return err
	})
	if err != nil {
		e.log.Error("approvals due not read", "error", err)
	}
	return refs
}
