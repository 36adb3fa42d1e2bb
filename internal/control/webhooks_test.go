package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

var hookID = records.WebhookProgressID("acme", "ops")

// putHook writes acme's webhook over this revision, and gives how far it stands.
func (f *fixture) putHook(revision int64, change func(w *countersign.WebhookWrite)) (p *records.WebhookProgress, size int64) {
	f.t.Helper()
	w := countersign.WebhookWrite{URL: "https://hooks.example/secret-path", Events: []string{countersign.EventRunEnded, countersign.EventApprovalRequested}, SecretEnv: "HOOK", ExpectedRevision: revision}
	change(&w)
	_, err := f.service.PutWebhook(background, as("acme"), "ops", w)
	f.must(err)
	f.must(f.store.View(background, func(tx store.Tx) (err error) {
		if size, err = audit.Size(tx, "acme"); err == nil {
			p, _, err = records.WebhookProgresses.Get(tx, store.Realm, hookID)
		}
		return err
	}))
	return p, size
}

// lags gives acme's webhook a progress: two records of the log looked at, and one
// notification that is tried again in an hour.
func (f *fixture) lags() {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		p, version, err := records.WebhookProgresses.Get(tx, store.Realm, hookID)
		if err != nil {
			return err
		}
		next := *p
		next.Cursor, next.Pending = 2, []records.PendingWebhook{{Seq: 1, Attempts: 3, NextAt: time.Now().Add(time.Hour)}}
		_, err = records.WebhookProgresses.Put(tx, store.Realm, hookID, &next, version)
		return err
	}))
}

func TestAWebhookBeginsAtThePresentEndOfTheLog(t *testing.T) {
	h := open(t)
	same := func(*countersign.WebhookWrite) {}
	if p, size := h.putHook(0, same); p.Cursor != size || size == 0 {
		t.Errorf("new: %d of %d", p.Cursor, size)
	}
	h.lags()
	elsewhere := func(w *countersign.WebhookWrite) { w.URL = "https://hooks.example/other"; slices.Reverse(w.Events) }
	if p, _ := h.putHook(1, elsewhere); p.Cursor != 2 || len(p.Pending) != 1 || p.Pending[0].NextAt.After(time.Now()) || p.Pending[0].Attempts != 3 {
		t.Errorf("another address loses something, or is not tried at once: %+v", p)
	}
	if p, size := h.putHook(2, func(w *countersign.WebhookWrite) { w.ProjectIDs = []string{"acme-one"} }); p.Cursor != size || len(p.Pending) != 1 {
		t.Errorf("other projects: %+v of %d", p, size)
	}
	h.lags()
	off := false
	if p, _ := h.putHook(3, func(w *countersign.WebhookWrite) { w.Enabled = &off }); len(p.Pending) != 0 {
		t.Errorf("disabled: %+v", p)
	}
	if p, size := h.putHook(4, same); p.Cursor != size {
		t.Errorf("enabled anew: %+v of %d", p, size)
	}
}

func TestTheAuditLogKeepsTheOriginOfAWebhookAndNotItsAddress(t *testing.T) {
	h := open(t)
	h.putHook(0, func(*countersign.WebhookWrite) {})
	_, err := h.service.DeleteWebhook(background, as("acme"), "ops")
	h.must(err)
	h.must(h.store.View(background, func(tx store.Tx) error {
		page, err := audit.List(tx, "acme", audit.Filter{Subject: "webhook/ops"}, 10, 0)
		if err == nil && (len(page.Items) != 2 || page.Items[1].Reason != "to https://hooks.example" || page.Items[1].After != "revision 1 enabled" || page.Items[0].Before != "revision 1 enabled" || page.Items[0].Action != "webhooks.delete") {
			t.Errorf("%+v", page.Items)
		}
		return err
	}))
}
