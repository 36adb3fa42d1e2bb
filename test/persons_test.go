package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/slacktest"
	"github.com/countersign/countersign/test/harness"
)

// What a sign-in link's session leaves behind proves no more than the link did; and what is a person's over all tenants is ended by
// nobody's tenant.

// TestALinksSessionConfirmsNoChatAccount: its maker would decide as somebody else from then on.
func TestALinksSessionConfirmsNoChatAccount(t *testing.T) {
	t.Parallel()
	for _, eyes := range []string{"principals", "people"} {
		t.Run(eyes, func(t *testing.T) {
			t.Parallel()
			w := newChatWorld(t, 1, harness.Set("FOUR_EYES", eyes), harness.Set("ADMIN_EMAIL", "ada@example.com"))
			ada := w.NewBrowser()
			ada.SignIn("ada@example.com")
			w.Keep(ada.Session())
			w.Admin.Put("/users/bob@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
			run := w.As("").Post("/runs", doc{"planId": w.ready(t, planOf(pay("p", "5", nil)))}, key(), ada.Cookie(), w.csrf(t, ada)).OK(t).At("id").Text()
			id := w.approval(t, run).At("id").Text()
			bob := w.byLink(t, w.As(""), "bob@example.com", ada.Cookie(), w.csrf(t, ada))
			w.decision(t, bob, id, approved).Refused(t, "self_approval")
			m := w.message(t)
			w.slack.Join(slacktest.Member{ID: "U9", Email: "bob@example.com", Name: "Ada as Bob"})
			has(t, "the first press", w.slack.Press("U9", m, "approve").Says(), "has not confirmed this account")
			for _, act := range []string{"confirm", "remove"} {
				p := w.chatAccount(t, bob, act, "U9")
				has(t, act, p.Text, "his session began with a sign-in link of user:ada@example.com", "sign in another way")
			}
			has(t, "the next press", w.slack.Press("U9", m, "approve").Says(), "has not confirmed this account")
			w.Admin.Get("/approvals/"+id).OK(t).Is(t, "status", "PENDING")
			refused := w.Admin.Get("/audit?action=users.confirm_chat").OK(t).At("items").Items()
			if len(refused) != 1 {
				t.Fatalf("%d records of the refusal", len(refused))
			}
			if !strings.HasPrefix(refused[0].At("outcome").Text(), "refused") || refused[0].At("actorMakers.0").Text() != "user:ada@example.com" {
				t.Errorf("the refusal is recorded as %v", refused[0])
			}
		})
	}
}

// chatAccount confirms or removes an account in the console's settings.
func (w *chatWorld) chatAccount(t *testing.T, b *harness.Browser, act, id string) *harness.Page {
	t.Helper()
	return w.press(t, b, "/settings/chat/"+act, url.Values{"service": {"slack"}, "workspace": {slacktest.Team}, "account": {id}})
}

// TestALinksSessionDelegatesNothing: the delegation would outlive link and session, and name its user alone.
func TestALinksSessionDelegatesNothing(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.person(t, "ann@example.com", "APPROVER", "ADMIN")
	w.person(t, "cem@example.com", "APPROVER")
	bob := w.byLink(t, w.Admin, "ann@example.com")
	w.As("").Put("/delegations/ann@example.com", standIn("cem@example.com"), bob.Cookie(), w.csrf(t, bob)).Refused(t, "role_required", "sign-in link of token:")
	if items := w.Admin.Get("/delegations").OK(t).At("items").Items(); len(items) != 0 {
		t.Errorf("%v", items)
	}
}

// TestTheLogNamesWhoMadeTheLinkBehindASession: whatever such a session changes.
func TestTheLogNamesWhoMadeTheLinkBehindASession(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/users/bob@example.com", doc{"roles": []string{"ADMIN", "OPERATOR"}}).OK(t)
	bob := w.byLink(t, w.Admin, "bob@example.com")
	w.As("").Put("/groups/fin", doc{"name": "Fin", "members": []string{}}, bob.Cookie(), w.csrf(t, bob)).OK(t)
	maker := w.Admin.Get("/tokens").OK(t).At("items.0.id").Text()
	rec := w.Admin.Get("/audit?subject=group/fin").OK(t)
	rec.Is(t, "items.0.actor", "user:bob@example.com").Is(t, "items.0.actorMakers", []string{"token:" + maker})
	w.Admin.Put("/groups/fin", doc{"name": "Finance", "members": []string{}, "expectedRevision": 1}).OK(t)
	w.Admin.Get("/audit?subject=group/fin").OK(t).Is(t, "items.0.actorMakers", harness.Absent)
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}

// TestAForeignInvitationEndsNoChatAccount: neither it nor its end is of any concern to who decides elsewhere.
func TestAForeignInvitationEndsNoChatAccount(t *testing.T) {
	t.Parallel()
	w := newChatWorld(t, 1)
	w.run(t, pay("p", "5", nil))
	m := w.message(t)
	w.known(t, "U1", "ann@example.com", m)
	acme := w.adminOf(t, "acme")
	acme.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t).Is(t, "invited", true)
	acme.Delete("/users/ann@example.com").OK(t)
	if said := acme.Get("/audit?subject=user/ann@example.com&action=users.remove_chat").OK(t).At("items").Items(); len(said) != 0 {
		t.Errorf("acme is told of %v", said)
	}
	if says := w.slack.Press("U1", m, "approve").Says(); strings.Contains(says, "not confirmed") {
		t.Errorf("after the invitation: %q", says)
	}
	w.Admin.Delete("/users/ann@example.com").OK(t) // the last membership that ends
	w.Admin.Get("/audit?subject=user/ann@example.com&action=users.remove_chat").OK(t).Is(t, "total", 1)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	has(t, "who was added again", w.slack.Press("U1", m, "approve").Says(), "has not confirmed this account")
}

// adminOf is an ADMIN of a new tenant.
func (w *world) adminOf(t *testing.T, tenant string) *harness.Client {
	t.Helper()
	w.Admin.Put("/tenants/"+tenant, doc{"name": tenant}).OK(t)
	c, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": tenant})
	return c
}

// TestALinksSessionSignsNobodyOutOfTheirOwnSessions: it ends what links and passkeys of its tenant began, itself too.
func TestALinksSessionSignsNobodyOutOfTheirOwnSessions(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	own := w.person(t, "bob@example.com", "VIEWER")
	first := w.byLink(t, w.Admin, "bob@example.com")
	second := w.byLink(t, w.Admin, "bob@example.com")
	w.press(t, second, "/sign-out-everywhere", url.Values{})
	for name, ended := range map[string]*harness.Browser{"the other link's": first, "its own": second} {
		if a := w.As("").Get("/session", ended.Cookie()); a.Status != 401 {
			t.Errorf("%s session: %d", name, a.Status)
		}
	}
	w.As("").Get("/session", own.Cookie()).OK(t)
}

// TestASessionGoesOnWhereItsUserStays: a tenant that lets a user go ends what they do there, and nothing elsewhere.
func TestASessionGoesOnWhereItsUserStays(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	bob := w.person(t, "bob@example.com", "VIEWER")
	acme := w.adminOf(t, "acme")
	acme.Put("/users/bob@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.press(t, bob, "/settings/invitations/acme/accept", url.Values{})
	w.press(t, bob, "/settings/tenant", url.Values{"tenant": {"acme"}})
	w.As("").Get("/session", bob.Cookie()).OK(t).Is(t, "tenantId", "acme")
	acme.Delete("/users/bob@example.com").OK(t)
	w.As("").Get("/session", bob.Cookie()).OK(t).Is(t, "tenantId", "default")
	w.Admin.Delete("/users/bob@example.com").OK(t)
	if a := w.As("").Get("/session", bob.Cookie()); a.Status != 401 {
		t.Errorf("after the last membership: %d", a.Status)
	}
}

// TestALinksSessionEndsWithTheTenantThatMadeTheLink: what a tenant's link began acts there alone, and goes on in no other tenant of its user.
func TestALinksSessionEndsWithTheTenantThatMadeTheLink(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	own := w.person(t, "bob@example.com", "VIEWER")
	acme := w.adminOf(t, "acme")
	acme.Put("/users/bob@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.press(t, own, "/settings/invitations/acme/accept", url.Values{})
	link := w.byLink(t, w.Admin, "bob@example.com")
	w.As("").Get("/session", link.Cookie()).OK(t).Is(t, "tenantId", "default")
	w.Admin.Delete("/users/bob@example.com").OK(t)
	if a := w.As("").Get("/session", link.Cookie()); a.Status != 401 {
		t.Errorf("the link's session: %d", a.Status)
	}
	w.As("").Get("/session", own.Cookie()).OK(t).Is(t, "tenantId", "acme")
}
