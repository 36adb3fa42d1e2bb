package runrepo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// leave notes calls of a tenant's cancelled runs that may be answered until a time.
func (h *fixture) leave(tenant string, calls int, until time.Time) {
	h.t.Helper()
	h.update(func(tx store.Tx) error {
		for n := range calls {
			u := records.Unfinished{TenantID: tenant, RunID: fmt.Sprint("left-", n), State: records.Recovery, Since: h.now, Due: until}
			if _, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID(tenant, u.RunID), &u, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestATenantThatLeftManyCallsGetsNoSlot, neither for a start nor for a run that queues,
// until they have ended; nobody else waits for that.
func TestATenantThatLeftManyCallsGetsNoSlot(t *testing.T) {
	h := openShared(t, 3, 3)
	queued := h.mustStart("acme")
	h.must(queued, run.Resumed{}) // asks for an approval
	busy := []runrepo.Ref{h.mustStart("beta"), h.mustStart("beta"), h.mustStart("beta")}
	h.must(queued, decide(countersign.ApprovalApproved))
	over := h.now.Add(time.Minute)
	h.leave("acme", countersign.MaxLeftCalls, over)
	if moved := h.must(busy[0], run.CancelAsked{Reason: "r", By: bob.ID}); len(moved.Others) != 0 {
		t.Errorf("a slot went to %v", moved.Others)
	}
	h.must(busy[1], run.CancelAsked{Reason: "r", By: bob.ID})
	h.refused("acme")
	want := fmt.Sprintf("%d calls of cancelled runs of tenant acme may still be answered; try again when one of them has ended", countersign.MaxLeftCalls)
	if _, err := h.start("acme"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	h.mustStart("beta")
	h.now = over.Add(time.Millisecond)
	h.update(h.repository.Grant)
	if got := h.unfinished()[queued.RunID].State; got != records.Active {
		t.Errorf("with the calls ended the run that queued is %s", got)
	}
}
