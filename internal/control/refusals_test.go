package control_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// viewerOf is somebody who may only look.
func viewerOf(tenant, name string) control.Actor {
	a := as(tenant)
	a.ID, a.Roles = "user:"+name, []countersign.Role{countersign.RoleViewer}
	return a
}

// refuse has somebody refused so many times.
func (f *fixture) refuse(t *testing.T, a control.Actor, op access.Operation, subject string, times int) {
	t.Helper()
	for range times {
		wantCode(t, f.service.Authorize(background, a, op, subject), countersign.CodeRoleRequired)
	}
}

// told are the refusals in a log from a record on: actor, action, subject and count.
func (f *fixture) told(tenant string, from int) (out []countersign.AuditRecord) {
	f.t.Helper()
	for _, r := range f.log(tenant, from) {
		if r.Outcome != countersign.AuditDone {
			out = append(out, countersign.AuditRecord{Actor: r.Actor, Action: r.Action, Subject: r.Subject, Outcome: r.Outcome, Count: r.Count, At: r.At})
		}
	}
	return out
}

// TestRepeatedRefusalsAreTwoRecordsAMinute: the first at once, the others counted when
// the minute is over.
func TestRepeatedRefusalsAreTwoRecordsAMinute(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from, began := len(h.log("acme", 0)), time.Now()
		eve := viewerOf("acme", "eve")
		h.refuse(t, eve, access.WriteModel, "model/m1", 1)
		if got := h.told("acme", from); len(got) != 1 || got[0].Count != 0 || got[0].Subject != "model/m1" {
			t.Fatalf("the first is not recorded at once, as it was: %+v", got)
		}
		h.refuse(t, eve, access.WriteModel, "model/m1", 1499)
		later(time.Minute - time.Second)
		if got := h.told("acme", from); len(got) != 1 {
			t.Fatalf("%d records within the minute", len(got))
		}
		later(2 * time.Second)
		got := h.told("acme", from)
		if len(got) != 2 || got[1].Count != 1499 || got[1].Subject != "model/m1" || got[1].Actor != "user:eve" ||
			got[1].Outcome != "refused: role_required" || got[1].Action != string(access.WriteModel) || !got[1].At.Equal(began.Add(time.Minute)) {
			t.Fatalf("%+v", got)
		}
		later(time.Hour)
		if got := h.told("acme", from); len(got) != 2 {
			t.Fatalf("%d records, and nothing was refused", len(got))
		}
		h.refuse(t, eve, access.WriteModel, "model/m1", 1) // a new minute
		if got := h.told("acme", from); len(got) != 3 || got[2].Count != 0 {
			t.Fatalf("%+v", got)
		}
		later(2 * time.Minute)
		if got := h.told("acme", from); len(got) != 3 {
			t.Fatalf("one that was not repeated is counted: %+v", got)
		}
		h.service.Close()
	})
}

// TestARefusalIsRecordedAsOfItsTurn: a record that waits for another transaction is not earlier than
// what that one records, be it of the first refusal or of the repeats.
func TestARefusalIsRecordedAsOfItsTurn(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from, began := len(h.log("acme", 0)), time.Now()
		occupy := func(until time.Time) { // the fixture's store may run a function twice
			go func() {
				_ = h.store.Update(background, func(store.Tx) error { time.Sleep(time.Until(until)); return nil })
			}()
			synctest.Wait()
		}
		occupy(began.Add(3 * time.Second))
		h.refuse(t, viewerOf("acme", "eve"), access.WriteModel, "model/m1", 2)
		later(56 * time.Second)
		occupy(began.Add(62 * time.Second))
		later(time.Minute)
		got := h.told("acme", from)
		if len(got) != 2 || !got[0].At.Equal(began.Add(3*time.Second)) || !got[1].At.Equal(began.Add(62*time.Second)) {
			t.Fatalf("began at %s: %+v", began, got)
		}
		h.service.Close()
	})
}

// TestOnlyTheSameIsFolded: another principal, operation, code or tenant has its own.
func TestOnlyTheSameIsFolded(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from, other := len(h.log("acme", 0)), len(h.log("beta", 0))
		h.refuse(t, viewerOf("acme", "eve"), access.WriteModel, "model/m1", 2)
		h.refuse(t, viewerOf("acme", "mallory"), access.WriteModel, "model/m1", 1)
		h.refuse(t, viewerOf("acme", "eve"), access.WriteProject, "project/acme-one", 1)
		h.refuse(t, viewerOf("beta", "eve"), access.WriteModel, "model/m1", 1)
		_ = h.service.Refuse(background, viewerOf("acme", "eve"), access.WriteModel, "model/m1", countersign.Errorf(countersign.CodeCSRF, "no token"))
		if a, b := len(h.told("acme", from)), len(h.told("beta", other)); a != 4 || b != 1 {
			t.Errorf("%d records and %d in the other tenant", a, b)
		}
		later(time.Minute + time.Second)
		if a, b := len(h.told("acme", from)), len(h.told("beta", other)); a != 5 || b != 1 {
			t.Errorf("%d records after the minute and %d in the other tenant", a, b)
		}
		h.service.Close()
	})
}

// TestFoldedRefusalsOfSeveralNameNone of what they were about.
func TestFoldedRefusalsOfSeveralNameNone(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from := len(h.log("acme", 0))
		for _, id := range []string{"m0", "m1", "m2", "m2"} {
			h.refuse(t, viewerOf("acme", "eve"), access.WriteModel, "model/"+id, 1)
		}
		later(2 * time.Minute)
		if got := h.told("acme", from); len(got) != 2 || got[1].Subject != "model/*" || got[1].Count != 3 {
			t.Errorf("%+v", got)
		}
		h.service.Close()
	})
}

// TestWhatWasCountedIsRecordedAtTheEnd of the service.
func TestWhatWasCountedIsRecordedAtTheEnd(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from := len(h.log("acme", 0))
		h.refuse(t, viewerOf("acme", "eve"), access.WriteModel, "model/m1", 3)
		h.service.Close()
		if got := h.told("acme", from); len(got) != 2 || got[1].Count != 2 {
			t.Errorf("%+v", got)
		}
		later(time.Hour)
	})
}

// TestNoRefusalIsLostToAStoreThatCannotWrite: the first is no refusal then, nor are those
// beside it, and what was counted is recorded later.
func TestNoRefusalIsLostToAStoreThatCannotWrite(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from, eve := len(h.log("acme", 0)), viewerOf("acme", "eve")
		h.store.full.Store(true)
		h.store.slow = time.Second // so that all are under way at once
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(func() {
				wantCode(t, h.service.Authorize(background, eve, access.WriteModel, "model/m1"), countersign.CodeUnavailable)
			})
		}
		wait.Wait()
		h.store.slow = 0
		h.store.full.Store(false)
		h.refuse(t, eve, access.WriteModel, "model/m1", 3)
		h.store.full.Store(true)
		later(time.Minute + time.Second)
		h.store.full.Store(false)
		if got := h.told("acme", from); len(got) != 1 {
			t.Fatalf("%+v", got)
		}
		later(time.Minute)
		if got := h.told("acme", from); len(got) != 2 || got[1].Count != 2 {
			t.Errorf("%+v", got)
		}
		h.service.Close()
	})
}

// TestRefusalsAtOnceAreCountedOnceEach.
func TestRefusalsAtOnceAreCountedOnceEach(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		h.store.slow = time.Second
		from := len(h.log("acme", 0))
		var wait sync.WaitGroup
		for range 24 {
			wait.Go(func() { h.refuse(t, viewerOf("acme", "eve"), access.WriteModel, "model/m1", 1) })
		}
		wait.Wait()
		later(2 * time.Minute)
		if got := h.told("acme", from); len(got) != 2 || got[1].Count != 23 {
			t.Errorf("%+v", got)
		}
		h.service.Close()
	})
}

// TestProcessesOnOneStoreRecordTheFirstOnce, and each what it has counted.
func TestProcessesOnOneStoreRecordTheFirstOnce(t *testing.T) {
	inBubble(t, func() {
		d, eve := newDoor(t), viewerOf("acme", "eve")
		one, other := d.process(true), d.process(true)
		for _, p := range []*control.Service{one, other, other, one} {
			wantCode(t, p.Authorize(background, eve, access.WriteModel, "model/m1"), countersign.CodeRoleRequired)
		}
		later(time.Minute + time.Second)
		var counts []int64
		err := d.store.View(background, func(tx store.Tx) error {
			page, err := audit.List(tx, "acme", audit.Filter{}, 100, 0)
			counts = nil
			for _, r := range page.Items {
				counts = append(counts, r.Count)
			}
			return err
		})
		slices.Sort(counts)
		if err != nil || !slices.Equal(counts, []int64{0, 1, 2}) {
			t.Errorf("%v, %v", counts, err)
		}
		one.Close()
		other.Close()
	})
}
