package engine

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// expiryInterval is how often the engine compares approvals with the clock, which somebody
// may set forward: an approval expires within a second.
const expiryInterval = 500 * time.Millisecond

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
		if e.isSuspect(ref) {
			if spent, err := e.spent(ref); err == nil && spent {
				_ = e.setAside(ref) // it logs; the next look tries again
				more = false
				continue
			}
		}
		moved, err := e.applyOnce(ref, nil, run.Expired{})
		if err != nil {
			e.notApplied(ref, "can't expire approval", err)
			e.turnFailed(ref, err, false)
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

// dueBatch bounds how many of them are in memory at a time.
const dueBatch = 100

// due lists the runs whose approval has reached its expiresAt. The column holds
// microseconds, so what it finds is compared once more, exactly.
func (e *Engine) due() []runrepo.Ref {
	var refs []runrepo.Ref
	now := e.runs.Now()
	err := e.store.View(context.Background(), func(tx store.Tx) error {
		refs = nil
		list, err := records.ListUnfinished(tx, store.Query{
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
		e.log.Error("can't read the approvals that are due", "error", err)
	}
	return refs
}
