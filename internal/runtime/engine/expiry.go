package engine

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// expiryBound is the longest the engine waits before it looks at the clock
// again: a clock that is set forward is noticed within it.
const expiryBound = 500 * time.Millisecond

// expireAllDue acts on every approval that has reached its expiresAt.
func (e *Engine) expireAllDue() {
	for e.expireDue() {
	}
}

// expireDue acts on one batch of approvals that are due; true when there may be
// more of them to act on now.
func (e *Engine) expireDue() (more bool) {
	batch := e.due()
	more = len(batch) == dueBatch
	for _, ref := range batch {
		moved, err := e.applyOnce(ref, nil, run.Expired{})
		if err != nil {
			e.notMoved(ref, "approval not expired", err)
			more = false
			continue
		}
		e.Drive(moved.Run)
	}
	return more && !e.isHalted()
}

func (e *Engine) isHalted() bool {
	select {
	case <-e.halted:
		return true
	default:
		return false
	}
}

// dueBatch bounds what one look holds in memory.
const dueBatch = 100

// due lists the runs whose approval has reached its expiresAt. The column holds
// microseconds, so what it finds is compared once more, exactly.
func (e *Engine) due() []runrepo.Ref {
	var refs []runrepo.Ref
	now := e.runs.Now()
	err := e.store.View(context.Background(), func(tx store.Tx) error {
		refs = nil
		list, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
			Where: []store.Filter{{Column: "due", Op: store.AtLeast, Values: []any{int64(1)}}, {Column: "due", Op: store.AtMost, Values: []any{now.UnixMicro()}}},
			Order: []store.Order{{Column: "due"}}, Limit: dueBatch,
		})
		for _, u := range list {
			if !now.Before(u.Due) {
				refs = append(refs, runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID})
			}
		}
		return err
	})
	if err != nil {
		e.log.Error("approvals due not read", "error", err)
	}
	return refs
}
