package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// exceeded wants the refusal that names a bound.
func exceeded(t *testing.T, err error, which string) {
	t.Helper()
	wantCode(t, err, countersign.CodeQuotaExceeded)
	if err != nil && !strings.Contains(err.Error(), ": "+which+": ") {
		t.Errorf("it doesn't name the bound %q: %v", which, err)
	}
}

func TestAnInstanceBeyondTheBoundOfItsAgentIsRefused(t *testing.T) {
	inBubble(t, func() {
		h := openBounded(t, 1, quota.Bounds{Instances: 2})
		ids := h.sync(item("a"), item("b"))
		h.beat(ids[0], newHeartbeat("i-1", 1))
		h.beat(ids[0], newHeartbeat("i-2", 1))
		before := h.everything(tenants...)
		for _, a := range h.beats(ids[0], newHeartbeat("i-3", 1), newHeartbeat("i-4", 1)) {
			exceeded(t, a.err, "instances")
		}
		if h.everything(tenants...) != before {
			t.Error("a refused heartbeat left something")
		}
		h.beat(ids[0], newHeartbeat("i-1", 2)) // those that are known go on
		h.beat(ids[1], newHeartbeat("i-3", 1)) // and so do other agents'
		late := newHeartbeat("i-5", 1)
		late.Timestamp = "2020-01-01T00:00:00Z"
		_, err := h.service.Heartbeat(background, as("acme"), ids[0], late)
		wantCode(t, err, countersign.CodeInvalidRequest) // the clock is judged first
		h.service.Close()
	})
}

// TestAnInstanceUnheardForThirtyDaysIsDropped, not a moment earlier, in every tenant; and
// a heartbeat of it that is sent again is refused by its timestamp.
func TestAnInstanceUnheardForThirtyDaysIsDropped(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		h.must(h.store.Update(background, func(tx store.Tx) error {
			_, err := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
			return err
		}))
		id := h.sync(item("a"))[0]
		old := newHeartbeat("old", 7)
		h.beat(id, old)
		later(time.Hour)
		for i, state := range []countersign.InstanceState{"IDLE", "BUSY", "ERROR"} {
			b := newHeartbeat(fmt.Sprintf("new-%d", i), 1)
			b.State = state
			h.beat(id, b)
		}
		count := func() int {
			a, err := h.service.Agent(background, as("acme"), id)
			h.must(err)
			return a.InstanceCount
		}
		later(30*24*time.Hour - time.Hour - time.Second)
		commits := h.store.updates.Load()
		h.service.DropInstances(background)
		if n := count(); n != 4 || h.store.updates.Load() != commits {
			t.Errorf("%d instances a second before, %d commits", n, h.store.updates.Load()-commits)
		}
		later(time.Second)
		h.service.DropInstances(background)
		if n := count(); n != 3 {
			t.Errorf("%d instances after 30 days", n)
		}
		_, err := h.service.Heartbeat(background, as("acme"), id, old)
		wantCode(t, err, countersign.CodeInvalidRequest)
		if err != nil && !strings.Contains(err.Error(), "timestamp") {
			t.Error(err)
		}
		later(time.Hour)
		h.service.DropInstances(background)
		if n := count(); n != 0 {
			t.Errorf("%d instances at the end: those of each state go", n)
		}
		h.service.Close()
	})
}

// TestInstancesThatAreDueMakeRoomAtOnce for one that is new.
func TestInstancesThatAreDueMakeRoomAtOnce(t *testing.T) {
	inBubble(t, func() {
		h := openBounded(t, 1, quota.Bounds{Instances: 1})
		id := h.sync(item("a"))[0]
		h.beat(id, newHeartbeat("i-1", 1))
		later(30*24*time.Hour + time.Second)
		h.beat(id, newHeartbeat("i-2", 1))
		_, err := h.service.Heartbeat(background, as("acme"), id, newHeartbeat("i-3", 1))
		exceeded(t, err, "instances")
		h.service.Close()
	})
}

func TestModelsOfATenantAreBoundedByBytes(t *testing.T) {
	h := open(t)
	size := func(tenant string) (held, counted int64) {
		h.must(h.store.View(background, func(tx store.Tx) error {
			rows, err := tx.List(store.ModelRevisions, tenant, store.Query{})
			if err != nil {
				return err
			}
			held = 0
			for _, row := range rows {
				held += int64(len(row.Doc))
			}
			rec, _, err := records.ModelSizes.Get(tx, store.Realm, records.ModelBytesID(tenant))
			if err == nil {
				counted = rec.Bytes
			}
			return err
		}))
		return held, counted
	}
	_, err := h.service.SuspendModel(background, as("acme"), "m1", "r")
	h.must(err)
	held, counted := size("acme")
	if held != counted {
		t.Fatalf("%d bytes are counted, and %d held", counted, held)
	}
	h.must(h.store.Update(background, func(tx store.Tx) error { // as an older release left it
		return records.ModelSizes.Delete(tx, store.Realm, records.ModelBytesID("acme"))
	}))
	h.must(h.putModel(as("acme"), "m4", 0))
	if held, counted = size("acme"); held != counted {
		t.Fatalf("%d bytes are counted of a tenant of an older release, and %d held", counted, held)
	}

	h = openBounded(t, 1, quota.Bounds{ModelBytes: int(held)})
	before := ""
	for i := 0; err == nil; i++ {
		before = h.everything(append(tenants, store.Realm)...)
		if err = h.putModel(as("acme"), "m2", int64(i+1)); i > 100 {
			t.Fatal("no end")
		}
	}
	exceeded(t, err, "model bytes")
	if h.everything(append(tenants, store.Realm)...) != before {
		t.Error("a refused model left something")
	}
	h.must(h.putModel(as("beta"), "m2", 1)) // another tenant's are its own
	_, err = h.service.SuspendModel(background, as("acme"), "m2", "what must be stopped can be")
	h.must(err)
}

func TestWebhooksOfATenantAreBounded(t *testing.T) {
	h := openBounded(t, 1, quota.Bounds{Webhooks: 2})
	put := func(tenant, id string, revision int64) error {
		_, err := h.service.PutWebhook(background, as(tenant), id, countersign.WebhookWrite{
			URL: "https://hooks.example/", Events: []string{countersign.EventRunEnded}, SecretEnv: "HOOK", ExpectedRevision: revision,
		})
		return err
	}
	h.must(put("acme", "a", 0))
	h.must(put("acme", "b", 0))
	exceeded(t, put("acme", "c", 0), "webhooks")
	h.must(put("acme", "a", 1))
	_, err := h.service.DeleteWebhook(background, as("acme"), "a")
	h.must(err)
	h.must(put("acme", "c", 0))
}

// TestARunThatWillAskIsRefusedWhileAsManyWaitAsMay: one that asks for nothing, and one
// of another tenant, is not.
func TestARunThatWillAskIsRefusedWhileAsManyWaitAsMay(t *testing.T) {
	h := openBounded(t, 10, quota.Bounds{Approvals: 1})
	id := h.admitted(item("a"))[0]
	waits := func(tenant string, status countersign.ApprovalStatus, expected int64) {
		h.must(h.store.Update(background, func(tx store.Tx) error {
			a := &records.Approval{Approval: countersign.Approval{ID: "apr-1", RunID: "run-0", Status: status}}
			_, err := records.Approvals.Put(tx, tenant, a.ID, a, expected)
			return err
		}))
	}
	waits("beta", countersign.ApprovalPending, 0)
	_, err := h.startPing(id, countersign.ModeLive, "k1")
	h.must(err)
	waits("acme", countersign.ApprovalPending, 0)
	_, err = h.startPing(id, countersign.ModeLive, "k2")
	exceeded(t, err, "pending approvals")
	again, err := h.startPing(id, countersign.ModeLive, "k1")
	if err != nil || !again.Replayed {
		t.Errorf("a repeat finds no run: %v", err)
	}
	_, err = h.startPing(id, countersign.ModeDryRun, "k3")
	h.must(err)
	waits("acme", countersign.ApprovalApproved, 1)
	_, err = h.startPing(id, countersign.ModeLive, "k2")
	h.must(err)
}
