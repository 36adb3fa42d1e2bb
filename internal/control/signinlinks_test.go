package control_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// link is a sign-in link of a user.
func (g *gate) link(email string, minutes int64) string {
	g.t.Helper()
	made, secret, err := g.service.CreateLink(background, g.admin(), email, countersign.SignInLinkWrite{ExpiresInMinutes: minutes})
	g.must(err)
	want := g.now.Add(time.Duration(max(minutes, 0)) * time.Minute)
	if minutes == 0 {
		want = g.now.Add(15 * time.Minute)
	}
	if !made.ExpiresAt.Equal(want) || made.Email != email || made.TenantID != "default" || made.CreatedBy != g.admin().ID {
		g.t.Errorf("%+v", made)
	}
	return secret
}

// follows uses a link; "" where it signs nobody in.
func (g *gate) follows(link string) string {
	g.t.Helper()
	g.made++
	session, err := g.service.SignInByLink(background, link, fmt.Sprintf("10.1.%d.%d", g.made/250, g.made%250), control.Actor{RequestID: "req-1"})
	g.service.Close()
	if err != nil && countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		g.t.Fatal(err)
	}
	return session
}

func (g *gate) actor(session string) control.Actor {
	g.t.Helper()
	p, err := g.service.AuthenticateSession(background, session)
	g.must(err)
	return control.Actor{Principal: p, RequestID: "req-1"}
}

func TestASignInLinkExpires(t *testing.T) {
	for minutes, life := range map[int64]time.Duration{0: 15 * time.Minute, 1: time.Minute, 1440: 24 * time.Hour} {
		g := openGate(t)
		g.user("ada@example.com")
		late := g.link("ada@example.com", minutes)
		g.later(life)
		if g.follows(late) != "" {
			t.Errorf("%d minutes: it works when it is late", minutes)
		}
		inTime := g.link("ada@example.com", minutes)
		g.later(life - time.Second)
		if _, err := g.service.LookAtLink(background, inTime); err != nil {
			t.Error(err)
		}
		if !g.in(g.follows(inTime)) {
			t.Errorf("%d minutes: it doesn't work in time", minutes)
		}
	}
}

// TestALinkThatWasSeenExpiredStaysSo, though the clock is set back later.
func TestALinkThatWasSeenExpiredStaysSo(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	link := g.link("ada@example.com", 15)
	g.later(15 * time.Minute)
	g.follows(link)
	g.later(-time.Minute)
	if g.follows(link) != "" || g.rows(store.SignIns) != 0 {
		t.Error("it works again, or is kept")
	}
}

func TestASignInLinkWorksOnceAndOnlyTheNewest(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	first := g.link("ada@example.com", 15)
	second := g.link("ada@example.com", 15)
	if g.follows(first) != "" {
		t.Error("a link works beside a newer one")
	}
	if !g.in(g.follows(second)) || g.follows(second) != "" {
		t.Error("the newest link works not, or twice")
	}
	if n := g.rows(store.SignIns); n != 0 {
		t.Errorf("%d records are left", n)
	}
}

func TestASignInLinkEndsWithItsUserAndTheirRoles(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	link := g.link("ada@example.com", 15)
	_, err := g.service.DeleteUser(background, g.admin(), "ada@example.com", "")
	g.must(err)
	g.user("ada@example.com")
	if g.follows(link) != "" {
		t.Error("it works for who was removed and added again")
	}
	link = g.link("ada@example.com", 15)
	g.must(g.store.Update(background, func(tx store.Tx) error {
		u, version, err := records.Users.Get(tx, "default", "ada@example.com")
		if err != nil {
			return err
		}
		u.Roles = nil
		_, err = records.Users.Put(tx, "default", "ada@example.com", u, version)
		return err
	}))
	if g.follows(link) != "" {
		t.Error("it works for a user without a role")
	}
	if _, _, err := g.service.CreateLink(background, g.admin(), "eve@example.com", countersign.SignInLinkWrite{}); countersign.ErrorCode(err) != countersign.CodeNotFound {
		t.Errorf("a link for nobody: %v", err)
	}
}

// TestALinkAndACodesSecretAreNotTheOther: both stand in one table.
func TestALinkAndACodesSecretAreNotTheOther(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	link := g.link("ada@example.com", 15)
	secret, code := g.ask("ada@example.com", "10.0.0.1")
	if g.follows(secret) != "" {
		t.Error("a sign-in's secret works as a link")
	}
	for _, tried := range []string{"", code} {
		if _, err := g.service.SignIn(background, link, tried, "10.0.0.1", control.Actor{RequestID: "req-1"}); err == nil {
			t.Error("a link works as a sign-in's secret")
		}
	}
	if !g.in(g.follows(link)) {
		t.Error("trying it as another secret used the link up")
	}
}

func TestLinksAndTheirUseAreBounded(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	for range 5 {
		g.link("ada@example.com", 15)
	}
	if _, _, err := g.service.CreateLink(background, g.admin(), "ada@example.com", countersign.SignInLinkWrite{}); countersign.ErrorCode(err) != countersign.CodeQuotaExceeded {
		t.Errorf("a sixth link: %v", err)
	}
	wrong, tried := access.FormatSecret([32]byte{1}), 0
	for ; tried < 100; tried++ {
		if _, err := g.service.SignInByLink(background, wrong, "192.0.2.1", control.Actor{RequestID: "req-1"}); errors.Is(err, control.ErrTooMany) {
			break
		}
	}
	if tried != 20 {
		t.Errorf("%d tries of one network address", tried)
	}
}

// TestWhatALinksSessionMakesCarriesTheLinksMakers, so that who made the link finds no way
// around four eyes through tokens and further links.
func TestWhatALinksSessionMakesCarriesTheLinksMakers(t *testing.T) {
	g := openGate(t)
	g.keeps("default", "bob@example.com", countersign.RoleAdmin, countersign.RoleApprover)
	bob := g.actor(g.follows(g.link("bob@example.com", 15)))
	if maker := g.admin().ID; len(bob.Lineage) != 1 || bob.Lineage[0] != maker {
		t.Fatalf("%v", bob.Lineage)
	}
	made, err := g.service.CreateToken(background, bob, countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleApprover}, UserEmail: "bob@example.com"})
	g.must(err)
	var rec *records.Token
	g.must(g.store.View(background, func(tx store.Tx) (err error) {
		rec, _, err = records.Tokens.Get(tx, "default", made.ID)
		return err
	}))
	if len(rec.Lineage) != 2 || rec.Lineage[1] != g.admin().ID || rec.Person() != "" {
		t.Errorf("%v, stands for %q", rec.Lineage, rec.Person())
	}
	if _, err := g.service.ConfirmToken(background, bob, made.ID); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("the link's session confirms: %v", err)
	}
	_, err = g.service.ConfirmToken(background, g.actor(g.signIn("bob@example.com")), made.ID)
	g.must(err)
}

// TestALinkThatOneMakesForOneselfNamesNoOther.
func TestALinkThatOneMakesForOneselfNamesNoOther(t *testing.T) {
	g := openGate(t)
	_, err := g.service.EnsureAdmin(background, "ada@example.com")
	g.must(err)
	_, secret, err := g.service.CreateLink(background, g.actor(g.signIn("ada@example.com")), "ada@example.com", countersign.SignInLinkWrite{})
	g.must(err)
	if a := g.actor(g.follows(secret)); len(a.Lineage) != 0 || !a.Realm {
		t.Errorf("%+v", a)
	}
}

func TestALinksSessionActsInItsTenantAloneAndAnswersNoInvitation(t *testing.T) {
	g := openGate(t)
	for _, tenant := range []string{"acme", "marlow"} {
		_, err := g.service.PutTenant(background, g.admin(), tenant, countersign.TenantWrite{Name: tenant})
		g.must(err)
	}
	g.user("bob@example.com")
	g.keeps("acme", "bob@example.com", countersign.RoleViewer)
	_, err := g.service.PutUser(background, g.admin(), "bob@example.com", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}, TenantID: "marlow"})
	g.must(err)
	if _, _, err := g.service.CreateLink(background, g.admin(), "bob@example.com", countersign.SignInLinkWrite{TenantID: "marlow"}); err == nil {
		t.Error("who is only invited gets a link")
	}
	_, secret, err := g.service.CreateLink(background, g.admin(), "bob@example.com", countersign.SignInLinkWrite{TenantID: "acme"})
	g.must(err)
	bob := g.actor(g.follows(secret))
	shown, err := g.service.Session(background, bob)
	g.must(err)
	if bob.Tenant != "acme" || len(shown.Tenants) != 1 || len(shown.LinkMakers) != 1 {
		t.Errorf("%s, %+v", bob.Tenant, shown)
	}
	for name, err := range map[string]error{
		"another tenant": g.service.SwitchTenant(background, bob, "default"),
		"to accept":      g.service.AcceptInvitation(background, bob, "marlow"),
		"to decline":     g.service.DeclineInvitation(background, bob, "marlow"),
	} {
		if countersign.ErrorCode(err) != countersign.CodeRoleRequired {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.must(g.service.SwitchTenant(background, bob, "acme"))
}
