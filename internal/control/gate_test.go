package control_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// gate is the way in: the use cases over an empty store with a clock of its own,
// and a postbox in which sign-in codes arrive.
type gate struct {
	t       *testing.T
	store   store.Store
	service *control.Service
	now     time.Time
	made    int
	mails   chan string
	first   control.First
	issuers control.Issuers
}

func openGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{t: t, store: rerun.Always(memory.New()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), mails: make(chan string, 100)}
	g.service = g.over(g.store)
	var err error
	g.first, err = g.service.Bootstrap(background, "")
	g.must(err)
	return g
}

// over is a process on a store.
func (g *gate) over(s store.Store) *control.Service { return g.process(s, false) }

// replica is another process on the store.
func (g *gate) replica(shared bool) *control.Service { return g.process(g.store, shared) }

func (g *gate) process(s store.Store, shared bool) *control.Service {
	clock := func() time.Time { return g.now }
	newID := func(kind string) string { g.made++; return fmt.Sprintf("%s-%d", kind, g.made) }
	secret := func() [32]byte { g.made++; return sha256.Sum256(fmt.Append(nil, g.made)) }
	l := runrepo.New(runrepo.Config{MaxActive: 4, ApprovalTTL: time.Hour, NewID: newID, OriginAllowed: func(string) bool { return true }, Now: clock})
	cfg := control.Config{MaxActive: 4, NewID: newID, NewSecret: secret, Now: clock, Post: g, Shared: shared, Issuers: g.issuers}
	return control.New(cfg, s, l, noDriver{}, &updates.Hub{}, healthyProber{}, slog.New(slog.DiscardHandler))
}

func (g *gate) Send(_ context.Context, to, _, text string) error {
	g.mails <- to + " " + codeForm.FindString(text)
	return nil
}

var codeForm = regexp.MustCompile(`\b\d{8}\b`)

func (g *gate) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) later(d time.Duration) {
	g.service.Close() // nothing reads the clock meanwhile
	g.now = g.now.Add(d)
}

// admin is the bootstrap token's principal.
func (g *gate) admin() control.Actor {
	g.t.Helper()
	p, err := g.service.Authenticate(background, g.first.Token)
	g.must(err)
	return control.Actor{Principal: p}
}

func (g *gate) user(email string) {
	g.t.Helper()
	_, err := g.service.PutUser(background, g.admin(), email, countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
	g.must(err)
}

// ask begins a sign-in and returns its secret and, for a user, the code.
func (g *gate) ask(email, from string) (secret, code string) {
	g.t.Helper()
	secret, err := g.service.AskForCode(background, email, from)
	g.must(err)
	g.service.Close() // the mail is on its way no more
	select {
	case mail := <-g.mails:
		code = mail[len(email)+1:]
	default:
	}
	return secret, code
}

// signIn is a session of a user.
func (g *gate) signIn(email string) string {
	g.t.Helper()
	secret, code := g.ask(email, "10.0.0.1")
	session, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"})
	g.must(err)
	return session
}

// in reports that a session is good.
func (g *gate) in(session string) bool {
	g.t.Helper()
	_, err := g.service.AuthenticateSession(background, session)
	g.service.Close()
	if err != nil && countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		g.t.Fatal(err)
	}
	return err == nil
}

// rows counts what a table holds.
func (g *gate) rows(t *store.Table) (n int) {
	g.t.Helper()
	g.must(g.store.View(background, func(tx store.Tx) (err error) {
		n, err = tx.Count(t, store.Realm, store.Query{})
		return err
	}))
	return n
}

func TestACodeIsGoodForTenMinutes(t *testing.T) {
	for after, good := range map[time.Duration]bool{0: true, access.CodeLife - time.Second: true, access.CodeLife: false, time.Hour: false} {
		g := openGate(t)
		g.user("ada@example.com")
		secret, code := g.ask("ada@example.com", "10.0.0.1")
		g.later(after)
		if _, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"}); (err == nil) != good {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

func TestACodeThatWasSeenExpiredStaysSo(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	secret, code := g.ask("ada@example.com", "10.0.0.1")
	g.later(access.CodeLife)
	_, _ = g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"})
	g.later(-time.Hour)
	if _, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"}); err == nil {
		t.Error("the clock was set back, and the code is good again")
	}
}

func TestACodeIsGoodOnceAndForFiveTries(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	secret, code := g.ask("ada@example.com", "10.0.0.1")
	wrong := "00000000"
	for range access.CodeTries - 1 {
		if _, err := g.service.SignIn(background, secret, wrong, "10.0.0.1", control.Actor{RequestID: "req-1"}); err == nil {
			t.Fatal("a wrong code was right")
		}
	}
	if _, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"}); err != nil {
		t.Errorf("the fifth try, the first right one: %v", err)
	}
	if _, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"}); err == nil {
		t.Error("a code was good twice")
	}
	secret, code = g.ask("ada@example.com", "10.0.0.1")
	for range access.CodeTries {
		_, _ = g.service.SignIn(background, secret, wrong, "10.0.0.1", control.Actor{RequestID: "req-1"})
	}
	if _, err := g.service.SignIn(background, secret, code, "10.0.0.1", control.Actor{RequestID: "req-1"}); err == nil {
		t.Error("a sixth try was judged")
	}
}

func TestNoCodeGoesToWhoeverIsNoUser(t *testing.T) {
	g := openGate(t)
	if secret, code := g.ask("eve@example.com", "10.0.0.1"); code != "" || !access.WellFormedSecret(secret) {
		t.Errorf("%q %q", secret, code)
	}
}

func TestASessionEndsUnusedAfterTwelveHoursAndInAnyCaseAfterSevenDays(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	session := g.signIn("ada@example.com")
	g.later(access.SessionIdle - time.Second)
	if !g.in(session) {
		t.Fatal("it ended early")
	}
	g.later(access.SessionIdle - time.Second)
	if !g.in(session) {
		t.Error("use does not prolong it")
	}
	g.later(access.SessionIdle)
	if g.in(session) {
		t.Error("it lives on unused")
	}
	session = g.signIn("ada@example.com")
	end := g.now.Add(access.SessionAbsolute)
	for g.now.Add(6 * time.Hour).Before(end) {
		g.later(6 * time.Hour)
		if !g.in(session) {
			t.Fatalf("it ended %v early", end.Sub(g.now))
		}
	}
	if g.now = end; g.in(session) {
		t.Error("it lives on beyond seven days")
	}
}

func TestWhatWasSeenExpiredStaysSoWhateverTheClockSays(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}, ExpiresInDays: 1})
	g.must(err)
	idle, old := g.signIn("ada@example.com"), g.signIn("ada@example.com")
	good := func() [3]bool {
		_, err := g.service.Authenticate(background, made.Secret)
		g.service.Close()
		return [3]bool{err == nil, g.in(idle), g.in(old)}
	}
	if good() != [3]bool{true, true, true} {
		t.Fatal("they are not good to begin with")
	}
	g.later(30 * 24 * time.Hour)
	if good() != [3]bool{} {
		t.Fatal("they are good after a month")
	}
	g.later(-30 * 24 * time.Hour)
	if now := good(); now != [3]bool{} {
		t.Errorf("the clock was set back: token %v, sessions %v %v", now[0], now[1], now[2])
	}
}

func TestAsksAndTriesAreBoundedByAddress(t *testing.T) {
	g := openGate(t)
	asks := func(n int, email, from func(i int) string) (taken int) {
		for i := range n {
			_, err := g.service.AskForCode(background, email(i), from(i))
			if err == nil {
				taken++
			} else if !errors.Is(err, control.ErrTooMany) {
				t.Fatal(err)
			}
		}
		return taken
	}
	same := func(text string) func(int) string { return func(int) string { return text } }
	each := func(form string) func(int) string { return func(i int) string { return fmt.Sprintf(form, i) } }
	if n := asks(10, same("ada@example.com"), same("10.0.1.1")); n != 5 {
		t.Errorf("%d codes for one e-mail address from one network address", n)
	}
	if n := asks(10, same("ADA@example.com"), same("10.0.1.1")); n != 0 {
		t.Errorf("%d more for the same address in capitals", n)
	}
	if n := asks(1, same("ada@example.com"), same("10.0.1.2")); n != 1 {
		t.Error("a stranger's asking refuses the user at another address")
	}
	if n := asks(50, each("p%d@example.com"), same("10.0.3.1")); n != 20 {
		t.Errorf("%d codes for one network address", n)
	}
	tries := 0
	for range 50 {
		if _, err := g.service.SignIn(background, "0", "0", "10.0.4.1", control.Actor{RequestID: "req-1"}); !errors.Is(err, control.ErrTooMany) {
			tries++
		}
	}
	if tries != 20 {
		t.Errorf("%d tries from one network address", tries)
	}
	g.later(3 * time.Minute)
	if n := asks(5, same("ada@example.com"), same("10.0.1.1")); n != 1 {
		t.Errorf("%d codes three minutes later", n)
	}
}

func TestUnusedSignInsAreSweptAway(t *testing.T) {
	g := openGate(t)
	for i := range 30 {
		_, err := g.service.AskForCode(background, fmt.Sprintf("p%d@example.com", i), fmt.Sprintf("10.0.0.%d", i))
		g.must(err)
	}
	if n := g.rows(store.SignIns); n != 30 {
		t.Fatalf("%d sign-ins", n)
	}
	g.later(access.CodeLife)
	for i := range 3 {
		_, err := g.service.AskForCode(background, fmt.Sprintf("q%d@example.com", i), "10.0.9.9")
		g.must(err)
	}
	if n := g.rows(store.SignIns); n != 3 {
		t.Errorf("%d sign-ins are left", n)
	}
}

func TestSessionsThatNobodyCameBackForAreSweptAway(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	for range 3 {
		g.signIn("ada@example.com")
	}
	g.later(access.SessionAbsolute)
	session := g.signIn("ada@example.com")
	if n := g.rows(store.Sessions); n != 1 || !g.in(session) {
		t.Errorf("%d sessions are left", n)
	}
}

// TestAUsersEndEndsTheirSessionsThere: one that acts elsewhere isn't the tenant's to end, nor is one that acted there and that its
// user has for another tenant, too.
func TestAUsersEndEndsTheirSessionsThere(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	g.user("ben@example.com")
	_, err := g.service.PutTenant(background, g.admin(), "acme", countersign.TenantWrite{Name: "Acme"})
	g.must(err)
	_, err = g.service.PutUser(background, g.admin(), "ada@example.com", countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}, TenantID: "acme"})
	g.must(err)
	here, bens := g.signIn("ada@example.com"), g.signIn("ben@example.com")
	there := g.signIn("ada@example.com")
	p, err := g.service.AuthenticateSession(background, there)
	g.must(err)
	g.must(g.service.AcceptInvitation(background, control.Actor{Principal: p}, "acme"))
	g.must(g.service.SwitchTenant(background, control.Actor{Principal: p}, "acme"))
	_, err = g.service.DeleteUser(background, g.admin(), "ada@example.com", p.Tenant)
	g.must(err)
	goesOn, err := g.service.AuthenticateSession(background, here)
	if err != nil || goesOn.Tenant != "acme" || !g.in(there) || !g.in(bens) {
		t.Errorf("here %v in %q, in the other tenant %v, another's %v", err, goesOn.Tenant, g.in(there), g.in(bens))
	}
	_, err = g.service.DeleteUser(background, g.admin(), "ada@example.com", "acme")
	g.must(err)
	if g.in(here) || g.in(there) || !g.in(bens) {
		t.Errorf("after the last membership: %v and %v, another's %v", g.in(here), g.in(there), g.in(bens))
	}
}

func TestAVerifiedAddressSignsInOnlyAUser(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	session, err := g.service.SignInVerified(background, "ADA@example.com", "10.0.0.1", control.Actor{RequestID: "req-1"})
	if err != nil || !g.in(session) {
		t.Errorf("%v", err)
	}
	if _, err := g.service.SignInVerified(background, "eve@example.com", "10.0.0.1", control.Actor{RequestID: "req-1"}); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		t.Errorf("%v", err)
	}
}

func TestReadsOfOneRecordAreAllowedAsTheirLists(t *testing.T) {
	g := openGate(t)
	g.user("ada@example.com")
	session := g.signIn("ada@example.com")
	p, err := g.service.AuthenticateSession(background, session)
	g.must(err)
	token := g.admin().ID[len("token:"):]
	for name, c := range map[string]struct {
		actor control.Actor
		code  countersign.Code
	}{"a viewer": {control.Actor{Principal: p}, countersign.CodeRoleRequired}, "the realm": {g.admin(), ""}} {
		_, user := g.service.User(background, c.actor, "ada@example.com", "")
		_, tok := g.service.Token(background, c.actor, token, "")
		_, tenant := g.service.Tenant(background, c.actor, "default")
		_, record := g.service.AuditRecord(background, c.actor, 0, false)
		_, realm := g.service.AuditRecord(background, c.actor, 0, true)
		for i, err := range []error{user, tok, tenant, record, realm} {
			if countersign.ErrorCode(err) != c.code {
				t.Errorf("%s, %d: %v", name, i, err)
			}
		}
	}
	admin := g.admin()
	for i, err := range []error{
		second(g.service.User(background, admin, "eve@example.com", "")), second(g.service.User(background, admin, "ada@example.com", "nowhere")),
		second(g.service.Token(background, admin, "tok-0", "")), second(g.service.Tenant(background, admin, "nowhere")),
		second(g.service.AuditRecord(background, admin, 1<<40, false)),
	} {
		if countersign.ErrorCode(err) != countersign.CodeNotFound {
			t.Errorf("missing %d: %v", i, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestATokenMakesNoTokenThatMayDoMore than itself, also where the store runs the
// making again.
func TestATokenMakesNoTokenThatMayDoMore(t *testing.T) {
	g := openGate(t)
	maker := g.admin()
	maker.Modes = []string{countersign.ModeDryRun}
	w := countersign.TokenWrite{Name: "more", Roles: []countersign.Role{countersign.RoleOperator}, Modes: []string{countersign.ModeLive}}
	if made, err := g.service.CreateToken(background, maker, w); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("%+v, %v", made.TokenRecord, err)
	}
}
