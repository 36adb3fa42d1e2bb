package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// linkOf is the path of a sign-in link below /console, and its secret.
func linkOf(t *testing.T, made json) (path, secret string) {
	t.Helper()
	_, path, ok := strings.Cut(made.At("url").Text(), "/console")
	_, secret, is := strings.Cut(path, "?link=")
	if !ok || !is || len(secret) != 64 {
		t.Fatalf("no link: %s", made)
	}
	return path, secret
}

// byLink is a browser signed in as a user by a link that a client made.
func (w *world) byLink(t *testing.T, maker *harness.Client, email string, headers ...harness.Header) *harness.Browser {
	t.Helper()
	path, secret := linkOf(t, maker.Post("/users/"+email+"/sign-in-link", doc{}, headers...).OK(t))
	b := w.NewBrowser()
	if p := b.Open(path); p.Status != 200 || b.Session() != "" || !strings.Contains(p.Text, email) {
		t.Fatalf("looking at the link: %d %q %s", p.Status, b.Session(), p.Text)
	}
	if b.Submit("/sign-in/link", url.Values{"link": {secret}}); b.Session() == "" {
		t.Fatal("the link signs nobody in")
	}
	w.Keep(secret)
	w.Keep(b.Session())
	return b
}

func TestASignInLinkSignsInOnceAndLookingUsesNothingUp(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	made := w.Admin.Post("/users/ada@example.com/sign-in-link", doc{"expiresInMinutes": 60}).OK(t)
	made.Is(t, "email", "ada@example.com").Is(t, "tenantId", "default")
	path, secret := linkOf(t, made)
	scanner, ada, eve := w.NewBrowser(), w.NewBrowser(), w.NewBrowser()
	for range 3 {
		if p := scanner.Open(path); p.Status != 200 || scanner.Session() != "" || !strings.Contains(p.Text, "Sign in as ada@example.com") {
			t.Fatalf("%d %s", p.Status, p.Text)
		}
	}
	if ada.Submit("/sign-in/link", url.Values{"link": {secret}}); ada.Session() == "" {
		t.Fatal("it signs nobody in")
	}
	session := w.As("").Get("/session", ada.Cookie()).OK(t)
	session.Is(t, "email", "ada@example.com").Is(t, "linkMakers", []string{made.At("createdBy").Text()})
	for _, p := range []*harness.Page{eve.Submit("/sign-in/link", url.Values{"link": {secret}}), eve.Open(path), eve.Open("/sign-in/link"), eve.Submit("/sign-in/link", url.Values{})} {
		if p.Status != 401 || eve.Session() != "" || !strings.Contains(p.Text, "ask for a new one") {
			t.Errorf("the used link: %d %s", p.Status, p.Text)
		}
	}
	w.Keep(secret)
}

func TestTheLifeOfASignInLinkIsBounded(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	for _, minutes := range []any{0, -1, 1441, 1.5, "15"} {
		a := w.Admin.Post("/users/ada@example.com/sign-in-link", doc{"expiresInMinutes": minutes})
		a.Refused(t, "invalid_request", "expiresInMinutes")
	}
	w.Admin.Post("/users/eve@example.com/sign-in-link", doc{}).Refused(t, "not_found")
	w.tenantAdmin.Post("/users/ada@example.com/sign-in-link", doc{}).Refused(t, "role_required", "realm administrator")
	w.viewer.Get("/integrations/contract").OK(t).Is(t, "limits.signInLinkMinutes", 1440)
}

// TestALinksSessionAndItsMakerAreOnePerson: an administrator who asks for something can't have it approved through somebody else's link.
func TestALinksSessionAndItsMakerAreOnePerson(t *testing.T) {
	t.Parallel()
	for _, eyes := range []string{"principals", "people"} {
		t.Run(eyes, func(t *testing.T) {
			t.Parallel()
			w := ownWorld(t, harness.Set("FOUR_EYES", eyes), harness.Set("ADMIN_EMAIL", "ada@example.com"))
			ada := w.NewBrowser()
			ada.SignIn("ada@example.com")
			w.Keep(ada.Session())
			for _, email := range []string{"bob@example.com", "carol@example.com"} {
				w.Admin.Put("/users/"+email, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}}).OK(t)
			}
			bob := w.byLink(t, w.As(""), "bob@example.com", ada.Cookie(), w.csrf(t, ada))
			carol := w.byLink(t, w.As(""), "carol@example.com", ada.Cookie(), w.csrf(t, ada))
			token := w.selfMade(t, bob, "bob@example.com")
			other := w.person(t, "dan@example.com", "APPROVER")
			asks := map[string]*harness.Browser{"ada": ada, "bob": bob}
			for name, asker := range asks {
				plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
				run := w.As("").Post("/runs", doc{"planId": plan}, key(), asker.Cookie(), w.csrf(t, asker)).OK(t).At("id").Text()
				id := w.approval(t, run).At("id").Text()
				for _, judge := range []*harness.Browser{ada, bob, carol} {
					w.decision(t, judge, id, approved).Refused(t, "self_approval")
				}
				if a := token.Post("/approvals/"+id+"/decision", approved); a.Status != 403 {
					t.Errorf("%s asked, a token of bob's session: %s", name, a)
				}
				w.decision(t, other, id, approved).OK(t).Is(t, "status", "APPROVED")
			}
			asked := w.asked(t, w.operator).At("id").Text()
			w.decision(t, bob, asked, approved).OK(t).Is(t, "decidedBy", "user:bob@example.com").Is(t, "decidedByMakers", []string{"user:ada@example.com"})
			if page := ada.Open("/approvals/" + asked).Text; !strings.Contains(page, "by a sign-in link of ada@example.com") {
				t.Error("the page doesn't say by whose link it was decided")
			}
		})
	}
}

func TestASignInLinkIsRecordedWithoutItsSecret(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	ada := w.byLink(t, w.Admin, "ada@example.com")
	log := w.Admin.Get("/audit?subject=user/ada@example.com").OK(t)
	used, made := log.At("items.0"), log.At("items.1")
	made.Is(t, "action", "sign_in_links.create").Is(t, "weakens", true).Has(t, "after", "good until")
	used.Is(t, "action", "sessions.create").Is(t, "actor", "user:ada@example.com").Is(t, "reason", "with a sign-in link that "+made.At("actor").Text()+" made")
	if p := ada.Open("/settings").Text; !strings.Contains(p, "a sign-in link that") {
		t.Error("the settings don't say how the session began")
	}
}

func TestARealmAdministratorMakesASignInLinkOnTheUsersPage(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("ADMIN_EMAIL", "ada@example.com"))
	ada := w.NewBrowser()
	ada.SignIn("ada@example.com")
	w.Keep(ada.Session())
	w.Admin.Put("/users/bob@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	form := url.Values{"csrf": {strings.TrimPrefix(string(w.csrf(t, ada)), "X-CSRF-Token: ")}, "minutes": {"60"}}
	if p := ada.Open("/access/users/bob@example.com"); !strings.Contains(p.Text, "Create sign-in link") {
		t.Error("the page of the user offers no link")
	}
	p := ada.Submit("/access/users/bob@example.com/sign-in-link", form)
	_, rest, found := strings.Cut(p.Text, "/sign-in/link?link=")
	if p.Status != 201 || !found {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
	bob := w.NewBrowser()
	if bob.Submit("/sign-in/link", url.Values{"link": {rest[:64]}}); bob.Session() == "" {
		t.Error("it signs nobody in")
	}
	w.Keep(rest[:64])
	form.Set("minutes", "1441")
	if p := ada.Submit("/access/users/bob@example.com/sign-in-link", form); p.Status != 400 {
		t.Errorf("too long a life: %d", p.Status)
	}
	admin := w.person(t, "eve@example.com", "ADMIN")
	if p := admin.Open("/access/users/bob@example.com"); p.Status != 200 || strings.Contains(p.Text, "Create sign-in link") {
		t.Errorf("an ADMIN of the tenant is offered a link: %d", p.Status)
	}
}

// TestATokenOfALinksSessionIsNoMoreThanTheSession: it delegates nothing, and two of them that go back to one maker of links are one person.
func TestATokenOfALinksSessionIsNoMoreThanTheSession(t *testing.T) {
	t.Parallel()
	w, id, _ := pair(t)
	made := map[string]*harness.Client{}
	for _, email := range []string{"ann@example.com", "cem@example.com"} {
		w.person(t, email, "APPROVER", "ADMIN")
		session := w.byLink(t, w.Admin, email)
		answer := w.As("").Post("/tokens", doc{"name": "n", "roles": []string{"APPROVER", "ADMIN", "OPERATOR"}, "userEmail": email}, session.Cookie(), w.csrf(t, session)).OK(t)
		made[email] = w.As(answer.At("token").Text())
	}
	made["ann@example.com"].Put("/delegations/ann@example.com", standIn("cem@example.com")).Refused(t, "role_required", "sign-in link of token:")
	made["ann@example.com"].Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "status", "PENDING")
	made["cem@example.com"].Post("/approvals/"+id+"/decision", approved).Refused(t, "self_approval", "sign-in link")
	w.approver.Post("/approvals/"+id+"/decision", approved).Refused(t, "self_approval") // it was made by who made the links
	eve := w.person(t, "eve@example.com", "APPROVER")
	w.decision(t, eve, id, approved).OK(t).Is(t, "status", "APPROVED")
}
