package webhook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestAWindowThatHoldsMoreThanItTakesIsReadOn: the window begins with records of other
// projects and with as many as one round takes.
func TestAWindowThatHoldsMoreThanItTakesIsReadOn(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "shop", []string{"acme-shop"}, countersign.EventRunEnded)
	var others []string
	for i := range 200 {
		others = append(others, fmt.Sprintf("run-%03d", i))
	}
	d.ends("acme", "acme-desk", others...)
	d.ends("acme", "acme-shop", "mine")
	d.is("behind the others", d.look(0), "shop mine")
	d.is("again", d.look(1000*time.Hour))
}

// TestTwoProcessesThatFoundTheSameTellItOnce: a second process claims what the first one
// has found but not yet claimed.
func TestTwoProcessesThatFoundTheSameTellItOnce(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one")
	quick, shared := d.process(), d.store
	d.store = rerun.Meanwhile(shared, func() { quick.Look(context.Background()) })
	d.sender = d.process()
	d.is("together", d.look(0), "h one")
	d.store = shared
	d.sender = d.process()
	d.is("later", d.look(1000*time.Hour))
}

// TestWhatIsToldOfARunThatWasArchivedIsToldAllTheSame: the notification was pending before
// the run was archived.
func TestWhatIsToldOfARunThatWasArchivedIsToldAllTheSame(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", []string{"acme-shop"}, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one")
	d.write(func(tx store.Tx) error {
		rec, _, err := records.Runs.Get(tx, "acme", "one")
		if err != nil {
			return err
		}
		if _, err := records.ArchivedRuns.Put(tx, "acme", "one", records.ArchivedOf(rec, "file", "digest", d.now), 0); err != nil {
			return err
		}
		return records.Runs.Delete(tx, "acme", "one")
	})
	d.is("archived", d.look(0), "h one")
}

// TestAnAddressThatIsGoneEndsTheWebhookOnlyIfItStillHasIt: the webhook was edited while the
// old address answered 410.
func TestAnAddressThatIsGoneEndsTheWebhookOnlyIfItStillHasIt(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one")
	d.answer = func(request.Notice) (int, string) {
		d.write(func(tx store.Tx) error {
			w, version, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID("acme", "h"))
			if err != nil {
				return err
			}
			w.URL, w.Revision = "https://hooks.example/new", w.Revision+1
			_, err = records.Webhooks.Put(tx, store.Realm, records.WebhookID("acme", "h"), w, version)
			return err
		})
		return 410, "the receiver answered 410"
	}
	d.is("the old address", d.look(0), "h one")
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	d.is("the new address", d.look(time.Minute), "new one")
}

// TestWhatStandsAtTheEndOfAWindowIsToldOnce: the record at the boundary of two windows is
// searched once.
func TestWhatStandsAtTheEndOfAWindowIsToldOnce(t *testing.T) {
	const window = 10000
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.write(func(tx store.Tx) error {
		log := make([]countersign.AuditRecord, window-1) // followed by a run's start, and by its end at sequence number window
		for i := range log {
			log[i] = countersign.AuditRecord{At: d.now, Actor: "a", Action: "step.send", Subject: "run/x", Outcome: "done"}
		}
		return audit.Append(tx, "acme", log)
	})
	d.ends("acme", "acme-shop", "one")
	d.is("the first look", d.look(0), "h one")
	d.is("again", d.look(1000*time.Hour))
}
