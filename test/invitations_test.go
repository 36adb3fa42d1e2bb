package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// twoTenants is a server with a second tenant acme, and an ADMIN of it.
func twoTenants(t *testing.T) (w *world, acme *harness.Client) {
	t.Helper()
	w = ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ = w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	return w, acme
}

// press submits a form of the console that has only its CSRF token and these fields.
func (w *world) press(t *testing.T, b *harness.Browser, path string, fields url.Values) *harness.Page {
	t.Helper()
	form := url.Values{"csrf": {strings.TrimPrefix(string(w.csrf(t, b)), "X-CSRF-Token: ")}}
	for name, values := range fields {
		form[name] = values
	}
	return b.Submit(path, form)
}

func TestNobodyIsAddedToAnotherTenantUnasked(t *testing.T) {
	t.Parallel()
	w, acme := twoTenants(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	invited := acme.Put("/users/Ada@example.com", doc{"roles": []string{"APPROVER"}}).OK(t).Is(t, "invited", true).Is(t, "tenantId", "acme")
	acme.Get("/users").OK(t).Is(t, "items.0", invited)
	session := func() json { return w.As("").Get("/session", ada.Cookie()).OK(t) }
	session().Is(t, "tenants", []string{"default"}).Is(t, "invitations", []string{"acme"})
	if p := w.press(t, ada, "/settings/tenant", url.Values{"tenant": {"acme"}}); p.Status != 404 {
		t.Errorf("switching to a tenant that only invites: %d", p.Status)
	}
	acme.Post("/tokens", doc{"name": "n", "roles": []string{"APPROVER"}, "userEmail": "ada@example.com"}).Refused(t, "invalid_request", "userEmail")
	ada.SignIn("ada@example.com")
	session().Is(t, "tenantId", "default").Is(t, "tenants", []string{"default"})
	acme.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "invited", true) // the user must accept the invitation first

	for _, page := range []string{"/", "/settings"} {
		if text := ada.Open(page).Text; !strings.Contains(text, "acme") || !strings.Contains(text, "invite") {
			t.Errorf("%s says nothing of the invitation", page)
		}
	}
	eve := w.person(t, "eve@example.com", "ADMIN")
	if p := w.press(t, eve, "/settings/invitations/acme/accept", nil); p.Status != 404 {
		t.Errorf("somebody who is not invited: %d", p.Status)
	}
	if p := w.press(t, ada, "/settings/invitations/acme/accept", nil); p.Status != 200 {
		t.Errorf("accepting: %d", p.Status)
	}
	session().Is(t, "tenants", []string{"acme", "default"}).Is(t, "invitations", harness.Absent)
	acme.Get("/users").OK(t).Is(t, "items.0.invited", harness.Absent).Is(t, "items.0.roles", []string{"VIEWER"})
	acme.Get("/audit?action=users.accept").OK(t).Is(t, "total", 1).Is(t, "items.0.actor", "user:ada@example.com").Is(t, "items.0.subject", "user/ada@example.com")
	if p := w.press(t, ada, "/settings/invitations/acme/accept", nil); p.Status != 404 {
		t.Errorf("accepting twice: %d", p.Status)
	}
}

func TestAnInvitationMayBeDeclined(t *testing.T) {
	t.Parallel()
	w, acme := twoTenants(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	acme.Put("/users/ada@example.com", doc{"roles": []string{"ADMIN"}}).OK(t)
	w.press(t, ada, "/settings/invitations/acme/decline", nil)
	acme.Get("/users").OK(t).Is(t, "total", 0)
	w.As("").Get("/session", ada.Cookie()).OK(t).Is(t, "invitations", harness.Absent)
}

func TestWhoIsInNoTenantAcceptsBySigningIn(t *testing.T) {
	t.Parallel()
	w, acme := twoTenants(t)
	w.person(t, "ada@example.com", "VIEWER")
	acme.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "invited", true)
	w.Admin.Delete("/users/ada@example.com").OK(t)
	b := w.NewBrowser()
	b.SignIn("ada@example.com")
	w.As("").Get("/session", b.Cookie()).OK(t).Is(t, "tenantId", "acme")
	acme.Get("/users").OK(t).Is(t, "items.0.invited", harness.Absent)
	acme.Put("/users/new@example.com", doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "invited", harness.Absent) // an address without any tenant becomes a user at once
	b.SignIn("new@example.com")
	w.As("").Get("/session", b.Cookie()).OK(t).Is(t, "tenantId", "acme")
}

func TestSigningInReturnsToTheTenantLastUsed(t *testing.T) {
	t.Parallel()
	w, acme := twoTenants(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	acme.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.press(t, ada, "/settings/invitations/acme/accept", nil)
	tenant := func() string { return w.As("").Get("/session", ada.Cookie()).OK(t).At("tenantId").Text() }
	for _, last := range []string{"default", "acme", "default"} {
		w.press(t, ada, "/settings/tenant", url.Values{"tenant": {last}})
		ada.SignIn("ada@example.com")
		if got := tenant(); got != last {
			t.Errorf("signed in to %s after %s", got, last)
		}
	}
}
