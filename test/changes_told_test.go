package test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/test/harness"
)

// rewriteChange changes a proposed change's record in the store of a stopped server, and when it lapses.
func (w *world) rewriteChange(t *testing.T, id string, at time.Time) {
	t.Helper()
	st, err := w.openStopped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		rec, version, err := records.Changes.Get(tx, "default", records.ChangeID(id))
		if err != nil {
			return err
		}
		rec.ExpiresAt = at
		if _, err := records.Changes.Put(tx, "default", records.ChangeID(id), rec, version); err != nil {
			return err
		}
		open, version, err := records.AllOpenChanges.Get(tx, "default", records.OpenChangesID)
		if err != nil {
			return err
		}
		for i := range open.Items {
			if open.Items[i].ID == id {
				open.Items[i].ExpiresAt = at
			}
		}
		_, err = records.AllOpenChanges.Put(tx, "default", records.OpenChangesID, open, version)
		return err
	})
	if closing := st.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
}

// TestAChangeIsToldToWebhooks from its proposal to its end, which may come by itself.
func TestAChangeIsToldToWebhooks(t *testing.T) {
	t.Parallel()
	l := newListening(t)
	mara, noor := l.person(t, "mara@example.com", "ADMIN"), l.person(t, "noor@example.com", "ADMIN")
	asMara, asNoor := []harness.Header{mara.Cookie(), l.csrf(t, mara)}, []harness.Header{noor.Cookie(), l.csrf(t, noor)}
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "change.proposed", "change.approved", "change.ended")).OK(t)
	l.Admin.Put("/webhooks/ended", l.hook("/ended", "change.ended")).OK(t)
	l.Admin.Put("/webhooks/shop", harness.With(l.hook("/shop", "change.proposed", "change.ended"), "projectIds", []string{shop})).OK(t)
	l.As("").Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}, asMara...).OK(t)
	proposed := func(r *harness.Answer) string {
		t.Helper()
		r.Refused(t, "change_proposed")
		return strings.TrimPrefix(r.Header.Get("Location"), "/v1/changes/")
	}
	next := func(kind, id, status string) {
		t.Helper()
		want := doc{"tenantId": "default", "changeId": id, "status": status, "link": l.URL + "/console/changes/" + id}
		harness.Until(t, kind+" of "+id, func() bool {
			return slices.ContainsFunc(l.ears.Seen("POST", "/ops"), func(q harness.Request) bool {
				told := notification(t, q.Body)
				if told.At("type").Text() != kind || told.At("data.changeId").Text() != id {
					return false
				}
				told.Is(t, "data", want)
				return true
			})
		})
	}
	id := proposed(l.As("").Put("/users/pia@example.com", doc{"roles": []string{"APPROVER"}}, asMara...))
	next("change.proposed", id, "PROPOSED")
	l.As("").Post("/changes/"+id+"/decision", doc{"decision": "APPROVED", "reason": "r"}, asNoor...).OK(t)
	next("change.ended", id, "MADE")
	secret := proposed(l.As("").Post("/tokens", doc{"name": "t", "roles": []string{"ADMIN"}}, asMara...))
	next("change.proposed", secret, "PROPOSED")
	l.As("").Post("/changes/"+secret+"/decision", doc{"decision": "APPROVED", "reason": "r"}, asNoor...).OK(t)
	next("change.approved", secret, "APPROVED")
	l.Stop()
	l.rewriteChange(t, secret, time.Now().Add(-time.Minute))
	l.Restart()
	next("change.ended", secret, "LAPSED")
	l.Admin.Get("/audit?action=changes.lapse").OK(t).Is(t, "total", 1).Is(t, "items.0.actor", "system").Is(t, "items.0.subject", "change/"+secret).Is(t, "items.0.after", "LAPSED")
	l.Admin.Get("/changes/"+secret).OK(t).Is(t, "status", "LAPSED").Is(t, "endedReason", "its proposer has not made it in time")
	for _, q := range l.ears.Seen("POST", "/ended") {
		notification(t, q.Body).Is(t, "type", "change.ended")
	}
	if got := l.ears.Seen("POST", "/shop"); len(got) != 0 {
		t.Errorf("a webhook of one project is told of the tenant's change: %s", got[0].Raw)
	}
}
