package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// TestAHealthCheckIsOfTheRevisionThatItAsked: the project is edited while the old
// address answers.
func TestAHealthCheckIsOfTheRevisionThatItAsked(t *testing.T) {
	h := open(t)
	write := countersign.ProjectWrite{Name: "new", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "ping", Method: "POST", Path: "/ping", InputSchema: map[string]countersign.InputField{}},
	}}
	_, err := h.service.PutProject(background, as("acme"), "acme-new", write)
	h.must(err)
	h.checked = func() {
		write.ExpectedRevision = 1
		_, err := h.service.PutProject(background, as("acme"), "acme-new", write)
		h.must(err)
	}
	if _, err := h.service.CheckHealth(background, as("acme"), "acme-new"); countersign.ErrorCode(err) != countersign.CodeRevisionConflict {
		t.Errorf("the check of what was edited meanwhile: %v", err)
	}
	if _, err := h.service.EnableProject(background, as("acme"), "acme-new", countersign.Toggle{ExpectedRevision: 2}); countersign.ErrorCode(err) != countersign.CodeHealthCheckRequired {
		t.Errorf("the new revision is enabled on the old one's health: %v", err)
	}
}

// TestWebhooksOfATenantWhoseIDBeginsAlikeAreNotOnesOwn: the same range of ids is what
// a tenant's webhooks are counted by.
func TestWebhooksOfATenantWhoseIDBeginsAlikeAreNotOnesOwn(t *testing.T) {
	h := open(t)
	for _, tenant := range []string{"acm", "acme0", "acme2", "acmez", "acme"} {
		id := "of-" + tenant
		h.must(h.store.Update(background, func(tx store.Tx) error {
			w := &records.Webhook{TenantID: tenant, Webhook: countersign.Webhook{ID: id, URL: "https://hooks.example/", Revision: 1}}
			if _, err := records.Webhooks.Put(tx, store.Realm, records.WebhookID(tenant, id), w, 0); err != nil {
				return err
			}
			_, err := records.WebhookProgresses.Put(tx, store.Realm, records.WebhookProgressID(tenant, id), &records.WebhookProgress{}, 0)
			return err
		}))
	}
	page, err := h.service.Webhooks(background, as("acme"), control.List{Limit: 50})
	h.must(err)
	if page.Total != 1 || len(page.Items) != 1 || page.Items[0].ID != "of-acme" {
		t.Errorf("acme has %d webhooks: %+v", page.Total, page.Items)
	}
}

// TestALateNoteOfItsUseRevivesNoToken: it is revoked between a request that it came
// with and the note that it was used.
func TestALateNoteOfItsUseRevivesNoToken(t *testing.T) {
	g := openGate(t)
	made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}})
	g.must(err)
	busy := g.over(rerun.Meanwhile(g.store, func() {
		_, err := g.service.RevokeToken(background, g.admin(), made.ID, "")
		g.must(err)
	}))
	_, err = busy.Authenticate(background, made.Secret)
	g.must(err)
	busy.Close()
	if _, err := g.service.Authenticate(background, made.Secret); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		t.Errorf("the revoked token: %v", err)
	}
}

// TestTheSetUpLinkLapses, for who comes late and for who opened the page in time.
func TestTheSetUpLinkLapses(t *testing.T) {
	g := openGate(t)
	g.later(access.SetupLife - time.Second)
	g.must(g.service.CanSetUp(background, g.first.Link))
	g.later(time.Second)
	if err := g.service.CanSetUp(background, g.first.Link); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		t.Errorf("its page: %v", err)
	}
	if _, err := g.service.SetUp(background, g.first.Link, "ada@example.com", "10.0.0.1", control.Actor{RequestID: "req-1"}); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		t.Errorf("its use: %v", err)
	}
}

// TestACodeThatAnybodySawExpireIsNoneAnyMore, though what was tried then was wrong and
// the clock is set back later.
func TestACodeThatAnybodySawExpireIsNoneAnyMore(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	secret, code := g.ask("ada@example.com", "10.0.0.1")
	g.later(access.CodeLife)
	for i, tried := range []string{"00000000", code} {
		from := fmt.Sprintf("10.0.1.%d", i)
		if _, err := g.service.SignIn(background, secret, tried, from, control.Actor{RequestID: "req-1"}); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
			t.Errorf("%s: %v", tried, err)
		}
		g.later(-access.CodeLife)
	}
}

// TestADisabledProjectHasANewRevisionAfterARestore: what was approved for the old
// one must not be sent once somebody enables it.
func TestADisabledProjectHasANewRevisionAfterARestore(t *testing.T) {
	h := open(t)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0)
		return err
	}))
	_, err := h.service.DisableProject(background, as("acme"), "acme-one", countersign.Toggle{ExpectedRevision: 1})
	h.must(err)
	_, err = h.service.AfterRestore(background, "to noon", false)
	h.must(err)
	for _, id := range []string{"acme-one", "acme-two"} {
		if p, err := h.service.Project(background, as("acme"), id); err != nil || p.Revision != 2 || p.Enabled {
			t.Errorf("%s: revision %d, enabled %v; %v", id, p.Revision, p.Enabled, err)
		}
	}
}

// TestAnArchivedRunIsToldOfInItsScopeOnly, by its id as by the key that started it.
func TestAnArchivedRunIsToldOfInItsScopeOnly(t *testing.T) {
	h := open(t)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		left := &records.Archived{Run: countersign.Run{ID: "run-old", Status: countersign.RunCompleted}, Projects: []string{"acme-two"}, File: "acme/file"}
		_, err := records.ArchivedRuns.Put(tx, "acme", "run-old", left, 0)
		return err
	}))
	a := as("acme")
	for project, want := range map[string]countersign.Code{"acme-one": countersign.CodeProjectScope, "acme-two": countersign.CodeNotFound} {
		a.Projects = []string{project}
		if _, err := h.service.Run(background, a, "run-old"); countersign.ErrorCode(err) != want {
			t.Errorf("to somebody of %s: %v, want %s", project, err, want)
		}
	}
}
