package control_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/access"
)

// TestTheEndTakesNoLongerWithoutAStore: many refusals are being counted, and each write
// takes its time and fails.
func TestTheEndTakesNoLongerWithoutAStore(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		for i := range 50 {
			h.refuse(t, viewerOf("acme", fmt.Sprint("eve-", i)), access.WriteModel, "model/m1", 2)
			h.refuse(t, viewerOf("beta", fmt.Sprint("eve-", i)), access.WriteModel, "model/m1", 2)
		}
		h.store.full.Store(true)
		h.store.slow = 4 * time.Second
		began := time.Now()
		h.service.Close()
		if took := time.Since(began); took > 9*time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}

// TestTheEndRecordsAllOfATenantInOneTransaction.
func TestTheEndRecordsAllOfATenantInOneTransaction(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from := len(h.log("acme", 0))
		for i := range 50 {
			h.refuse(t, viewerOf("acme", fmt.Sprint("eve-", i)), access.WriteModel, "model/m1", 3)
		}
		h.store.slow = 4 * time.Second
		began := time.Now()
		h.service.Close()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("the end took %s: more than one transaction", took)
		}
		counted := int64(0)
		for _, r := range h.told("acme", from) {
			counted += r.Count
		}
		if counted != 100 {
			t.Errorf("%d repeats are recorded of 100", counted)
		}
	})
}

// TestWhatIsTakenBackNamesNoneOfSeveral: what could not be recorded joins the minute that
// began meanwhile, which was about something else.
func TestWhatIsTakenBackNamesNoneOfSeveral(t *testing.T) {
	inBubble(t, func() {
		h := open(t)
		from, eve := len(h.log("acme", 0)), viewerOf("acme", "eve")
		h.store.slow = 2 * time.Second
		h.refuse(t, eve, access.WriteModel, "model/m1", 3)
		h.store.full.Store(true)
		later(time.Minute - time.Second) // the minute is over, and its record is on the way
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() { h.refuse(t, eve, access.WriteModel, "model/m2", 1) })
		}
		later(1500 * time.Millisecond) // it could not be written
		h.store.full.Store(false)
		wait.Wait()
		later(3 * time.Minute)
		got := h.told("acme", from)
		if len(got) != 3 || got[2].Count != 5 || got[2].Subject != "model/*" {
			t.Errorf("%+v", got)
		}
		h.service.Close()
	})
}
