package control_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// decider is somebody who decides in a tenant.
func decider(id, tenant string) control.Actor {
	return control.Actor{Principal: access.Principal{ID: id, Tenant: tenant, Roles: []countersign.Role{countersign.RoleApprover}}}
}

// looked is a store that counts its reads.
type looked struct {
	store.Store
	n atomic.Int64
}

func (l *looked) View(ctx context.Context, fn func(store.Tx) error) error {
	l.n.Add(1)
	return l.Store.View(ctx, fn)
}

// TestStreamsOfOnePrincipalShareTheirWork: two cost what one does, what waits is counted in spans
// and for whom it waits, and the last that leaves ends the work.
func TestStreamsOfOnePrincipalShareTheirWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &reviewed{fixture: open(t), begun: time.Now()}
		for i := range 3 {
			h.approval([]string{"a0", "a1", "a2"}[i], i, countersign.ApprovalPending, "acme-one", "note")
		}
		h.breaks(store.Approvals, "a1")
		looks := &looked{Store: h.store.Store}
		h.store.Store = looks
		reads := func(streams int) (n int64) {
			var all []*control.DeskStream
			for range streams {
				s, err := h.service.WatchDesk(decider("user:eve@acme", "acme"))
				h.must(err)
				all = append(all, s)
			}
			synctest.Wait()
			for _, s := range all {
				<-s.Moved
				waiting, changed, ended := s.Take()
				if waiting == nil || waiting.Approvals != 2 || len(changed) > 0 || ended {
					t.Fatalf("a stream begins with %v %v %v", waiting, changed, ended)
				}
			}
			before := looks.n.Load()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			n = looks.n.Load() - before
			for _, s := range all {
				s.Close()
			}
			synctest.Wait()
			return n
		}
		one := reads(1)
		if three := reads(3); one == 0 || three != one {
			t.Errorf("three streams make %d reads, one %d", three, one)
		}
		before := looks.n.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if left := looks.n.Load() - before; left > 0 {
			t.Errorf("%d reads go on with nobody there", left)
		}
	})
}
