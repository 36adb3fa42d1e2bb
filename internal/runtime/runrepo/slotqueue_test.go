package runrepo_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// openShared is a house whose tenants are known to the store, so that they share.
func openShared(t fataler, slots, each int) *fixture {
	t.Helper()
	h := open(t)
	h.repository = runrepo.New(runrepo.Config{
		MaxActive: slots, MaxPerTenant: each, ApprovalTTL: ttl, NewID: h.newID, OriginAllowed: func(string) bool { return true },
		Now: func() time.Time { return h.now },
	})
	for tenant := range h.plans {
		h.tenant(tenant)
	}
	return h
}

func (h *fixture) tenant(id string) {
	h.t.Helper()
	h.update(func(tx store.Tx) error {
		_, err := records.Tenants.Put(tx, store.Realm, id, &countersign.Tenant{ID: id}, 0)
		return err
	})
}

func (h *fixture) refused(tenant string) {
	h.t.Helper()
	if ref, err := h.start(tenant); countersign.ErrorCode(err) != countersign.CodeCapacity {
		h.t.Fatalf("%s got a slot for %v: %v", tenant, ref, err)
	}
}

func TestShareOfSlots(t *testing.T) {
	for _, c := range []struct{ set, slots, tenants, want int }{
		{0, 4, 1, 4}, {0, 4, 2, 3}, {0, 4, 9, 3}, {0, 2, 2, 1}, {0, 1, 2, 1}, {0, 1, 1, 1},
		{2, 4, 1, 2}, {2, 4, 5, 2}, {4, 4, 2, 4}, {9, 4, 2, 4}, {1, 1, 2, 1},
	} {
		if got := runrepo.Share(c.set, c.slots, c.tenants); got != c.want {
			t.Errorf("set to %d, %d slots, %d tenants: %d, want %d", c.set, c.slots, c.tenants, got, c.want)
		}
	}
}

func TestATenantBeyondItsShareIsRefusedWhileASlotIsFree(t *testing.T) {
	h := openShared(t, 4, 0)
	first := h.mustStart("acme")
	h.mustStart("acme")
	h.mustStart("acme")
	h.refused("acme")
	h.mustStart("beta")
	h.refused("beta") // all are in use
	h.must(first, run.CancelAsked{Reason: "r", By: bob.ID})
	h.mustStart("acme")
}

func TestTheOnlyTenantMayHoldAllSlots(t *testing.T) {
	h := open(t)
	h.tenant("acme")
	for range limit {
		h.mustStart("acme")
	}
	h.refused("acme")
}

// TestQueuedRunsOfATenantAtItsShareHoldNobodyUp: neither another's queued run nor
// another's start.
func TestQueuedRunsOfATenantAtItsShareHoldNobodyUp(t *testing.T) {
	h := openShared(t, 3, 2)
	waiting := func(tenant string) runrepo.Ref {
		ref := h.mustStart(tenant)
		h.must(ref, run.Resumed{})
		return ref
	}
	var acme []runrepo.Ref
	for range 6 {
		acme = append(acme, waiting("acme"))
	}
	beta := waiting("beta")
	h.mustStart("acme")
	h.mustStart("acme")
	busy := h.mustStart("beta") // all slots are in use
	for _, ref := range append(slices.Clone(acme), beta) {
		h.now = h.now.Add(time.Second)
		h.must(ref, decide(countersign.ApprovalApproved))
	}
	moved := h.must(busy, run.CancelAsked{Reason: "r", By: bob.ID})
	if len(moved.Others) != 1 || moved.Others[0].Ref != beta {
		t.Fatalf("the slot did not go past the tenant at its share: %v", moved.Others)
	}
	h.must(beta, run.CancelAsked{Reason: "r", By: bob.ID})
	h.view(func(tx store.Tx) error {
		idle, err := h.repository.Idle(tx)
		if idle {
			t.Error("nobody may take the free slot, and it is said to be idle")
		}
		return err
	})
	h.refused("acme")
	h.mustStart("beta")
}

// TestSharesHoldInAnyHistory: in every committed state no tenant is beyond its share,
// and no run queues that could have a slot.
func TestSharesHoldInAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 4).Draw(t, "slots")
		each := rapid.IntRange(0, 4).Draw(t, "each")
		h := openShared(t, slots, each)
		share := runrepo.Share(each, slots, 2)
		var refs []runrepo.Ref
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "minutes")) * time.Minute)
			if len(refs) == 0 || rapid.IntRange(0, 2).Draw(t, "start") == 0 {
				if ref, err := h.start(rapid.SampledFrom([]string{"acme", "acme", "beta"}).Draw(t, "tenant")); err == nil {
					refs = append(refs, ref)
				}
			} else {
				ref := rapid.SampledFrom(refs).Draw(t, "run")
				switch rapid.IntRange(0, 3).Draw(t, "what") {
				case 0: // it will wait, approved perhaps while no slot is free
					_, _ = h.apply(ref, run.Resumed{})
				case 1:
					_, _ = h.apply(ref, decide(countersign.ApprovalApproved))
				default:
					_, _ = h.apply(ref, h.drawEvent(t, ref))
				}
			}
			active, queued := map[string]int{}, map[string]int{}
			all := 0
			for _, u := range h.unfinished() {
				switch u.State {
				case records.Active:
					active[u.TenantID]++
					all++
				case records.Queued:
					queued[u.TenantID]++
				}
			}
			for tenant := range h.plans {
				if active[tenant] > share {
					t.Fatalf("%s holds %d slots, its share is %d", tenant, active[tenant], share)
				}
				if queued[tenant] > 0 && active[tenant] < share && all < slots {
					t.Fatalf("%s queues with %d of its %d slots, and %d of all %d are in use", tenant, active[tenant], share, all, slots)
				}
			}
		}
	})
}
