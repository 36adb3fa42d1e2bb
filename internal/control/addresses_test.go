package control_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

const (
	wideKate    = "\uff4bate@example.com"    // folds to kate@example.com
	splitMuller = "mu\u0308ller@example.com" // folds to m\u00fcller@example.com
	kelvinKate  = "\u212aate@example.com"    // folds to it too, and is no address any more
	muller      = "m\u00fcller@example.com"
)

// keeps puts a user as an earlier release kept it.
func (g *gate) keeps(tenant, email string, roles ...countersign.Role) {
	g.t.Helper()
	g.must(g.store.Update(background, func(tx store.Tx) error {
		u := &records.User{User: countersign.User{Email: email, TenantID: tenant, Roles: roles, CreatedBy: "system", CreatedAt: g.now}}
		_, err := records.Users.Put(tx, tenant, email, u, 0)
		return err
	}))
}

// session opens a session of a user as it is kept.
func (g *gate) session(email string) string {
	g.t.Helper()
	secret := access.FormatSecret([32]byte([]byte(strings.Repeat(email, 3)[:32])))
	g.must(g.store.Update(background, func(tx store.Tx) error {
		rec := &records.Session{TenantID: "default", Email: email, CreatedAt: g.now, SeenAt: g.now, ExpiresAt: g.now.Add(access.SessionAbsolute)}
		_, err := records.Sessions.Put(tx, store.Realm, access.HashToken(secret), rec, 0)
		return err
	}))
	return secret
}

func (g *gate) emails() (out []string) {
	g.t.Helper()
	p, err := g.service.Users(background, g.admin(), control.List{Limit: 100}, "")
	g.must(err)
	for _, u := range p.Items {
		out = append(out, u.Email)
	}
	slices.Sort(out)
	return out
}

// An address that an earlier release kept in another form names its own user, and nobody
// else's: it goes before the form of today.
func TestAUserIsReachedByTheExactSpellingThatIsKept(t *testing.T) {
	for _, email := range []string{wideKate, splitMuller, kelvinKate} {
		g := openGate(t)
		g.user("kate@example.com")
		g.user(muller)
		g.keeps("default", email, countersign.RoleAdmin)
		stale, kate := g.session(email), g.session("kate@example.com")
		viewer := countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}}
		u, err := g.service.PutUser(background, g.admin(), email, viewer)
		if err != nil || u.Email != email {
			t.Errorf("lowering %q: %q, %v", email, u.Email, err)
		}
		if u, err = g.service.User(background, g.admin(), email, ""); err != nil || u.Email != email || !slices.Equal(u.Roles, viewer.Roles) {
			t.Errorf("reading %q: %v, %v", email, u, err)
		}
		made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: viewer.Roles, UserEmail: email})
		if err != nil || made.UserEmail != email {
			t.Errorf("a token for %q is %q's: %v", email, made.UserEmail, err)
		}
		if u, err = g.service.DeleteUser(background, g.admin(), email, ""); err != nil || u.Email != email {
			t.Errorf("removing %q: %q, %v", email, u.Email, err)
		}
		if g.in(stale) || !g.in(kate) {
			t.Errorf("%q: signed in %t, kate %t", email, g.in(stale), g.in(kate))
		}
		if want := []string{"kate@example.com", muller}; !slices.Equal(g.emails(), want) {
			t.Errorf("left are %q", g.emails())
		}
	}
}

// The start gives such a user the form of today where it can only mean them. What stands
// for them goes on, but for their sessions.
func TestTheStartFoldsAnAddressThatNobodyElseHas(t *testing.T) {
	g := openGate(t)
	g.keeps("default", splitMuller, countersign.RoleAdmin)
	session := g.session(splitMuller)
	made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}, UserEmail: splitMuller})
	g.must(err)
	for range 2 { // again changes nothing
		g.must(g.service.FoldAddresses(background))
	}
	if want := []string{muller}; !slices.Equal(g.emails(), want) || g.in(session) {
		t.Errorf("users %q, the old session is good: %t", g.emails(), g.in(session))
	}
	tok, err := g.service.Token(background, g.admin(), made.ID, "")
	if err != nil || tok.UserEmail != muller {
		t.Errorf("the token is %q's: %v", tok.UserEmail, err)
	}
	if !g.in(g.signIn(muller)) {
		t.Error("can't sign in")
	}
}

// Where it may mean somebody else, in this tenant or in another, nothing is changed, and
// the form of today makes no second user beside it.
func TestTheStartLeavesAnAddressThatAnotherUserHas(t *testing.T) {
	for name, others := range map[string]map[string]string{
		"the same tenant":                {"kate@example.com": "default"},
		"another tenant":                 {"kate@example.com": "acme"},
		"another spelling":               {kelvinKate: "default"},
		"another spelling, other tenant": {kelvinKate: "acme"},
	} {
		g := openGate(t)
		_, err := g.service.PutTenant(background, g.admin(), "acme", countersign.TenantWrite{Name: "Acme"})
		g.must(err)
		g.keeps("default", wideKate, countersign.RoleAdmin)
		here := []string{wideKate}
		for email, tenant := range others {
			g.keeps(tenant, email, countersign.RoleViewer)
			if tenant == "default" {
				here = append(here, email)
			}
		}
		slices.Sort(here)
		g.must(g.service.FoldAddresses(background))
		if !slices.Equal(g.emails(), here) {
			t.Errorf("%s: %q", name, g.emails())
		}
		if _, made := others["kate@example.com"]; made && len(here) == 2 {
			continue
		}
		_, err = g.service.PutUser(background, g.admin(), "kate@example.com", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
		if countersign.ErrorCode(err) != countersign.CodeStateConflict || !strings.Contains(err.Error(), "%EF%BD%8Bate@example.com") && !strings.Contains(err.Error(), "%E2%84%AAate@example.com") {
			t.Errorf("%s: a second one: %v", name, err)
		}
	}
}
