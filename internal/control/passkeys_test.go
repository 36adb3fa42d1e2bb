package control_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/authenticator"
)

const passkeyHost = "countersign.example.com"

// withPasskeys is a gate whose public address allows passkeys.
func withPasskeys(t *testing.T) *gate {
	t.Helper()
	g := openGate(t)
	party, err := passkey.New("https://" + passkeyHost)
	g.must(err)
	g.service.AcceptPasskeys(party)
	return g
}

// adds lets a session add a passkey.
func (g *gate) adds(session string) *authenticator.Authenticator {
	g.t.Helper()
	a := authenticator.New(g.t, "https://"+passkeyHost, passkeyHost)
	q, err := g.service.AskToAddPasskey(background, g.actor(session))
	g.must(err)
	g.must(g.service.AddPasskey(background, g.actor(session), "my phone", q.Secret, a.Create(q.Options)))
	return a
}

// shows signs in by passkey; "" where it signs nobody in.
func (g *gate) shows(a *authenticator.Authenticator) string {
	g.t.Helper()
	q, err := g.service.AskForPasskey(background, "10.2.0.1")
	g.must(err)
	return g.answers(q.Secret, a.Get(q.Options))
}

func (g *gate) answers(question, answer string) string {
	g.t.Helper()
	g.made++
	session, err := g.service.SignInByPasskey(background, question, answer, fmt.Sprintf("10.2.%d.%d", g.made/250, g.made%250), control.Actor{RequestID: "req-1"})
	g.service.Close()
	if err != nil && countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		g.t.Fatal(err)
	}
	return session
}

func TestAPasskeySignsItsUserIn(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	a := g.adds(g.signIn("ada@example.com"))
	for range 2 {
		a.Counter++
		session := g.actor(g.shows(a))
		if session.Email != "ada@example.com" || session.Tenant != "default" || session.Requester().ByLink() {
			t.Errorf("%+v", session)
		}
	}
	list, err := g.service.Passkeys(background, g.actor(g.signIn("ada@example.com")))
	g.must(err)
	if len(list) != 1 || list[0].Name != "my phone" || !list[0].LastUsedAt.Equal(g.now) {
		t.Errorf("%+v", list)
	}
}

func TestAnAnswerCountsOnceAndInTime(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	a := g.adds(g.signIn("ada@example.com"))
	q, err := g.service.AskForPasskey(background, "10.2.0.1")
	g.must(err)
	answer := a.Get(q.Options)
	if !g.in(g.answers(q.Secret, answer)) || g.answers(q.Secret, answer) != "" {
		t.Error("an answer counts not, or twice")
	}
	q, err = g.service.AskForPasskey(background, "10.2.0.1")
	g.must(err)
	answer = a.Get(q.Options)
	if g.answers(q.Secret, strings.Replace(answer, `"signature":"`, `"signature":"AA`, 1)) != "" || g.answers(q.Secret, answer) != "" {
		t.Error("a question is good for a second answer")
	}
	q, err = g.service.AskForPasskey(background, "10.2.0.1")
	g.must(err)
	answer = a.Get(q.Options)
	g.later(access.PasskeyAnswer)
	if g.answers(q.Secret, answer) != "" {
		t.Error("an answer counts when it is late")
	}
}

func TestAPasskeyIsAddedSoonAfterSigningIn(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	session := g.signIn("ada@example.com")
	q, err := g.service.AskToAddPasskey(background, g.actor(session))
	g.must(err)
	g.later(access.FreshSignIn - time.Second)
	g.must(g.service.MayAddPasskey(background, g.actor(session)))
	g.later(time.Second)
	a := authenticator.New(t, "https://"+passkeyHost, passkeyHost)
	for name, err := range map[string]error{
		"may":    g.service.MayAddPasskey(background, g.actor(session)),
		"answer": g.service.AddPasskey(background, g.actor(session), "phone", q.Secret, a.Create(q.Options)),
	} {
		if countersign.ErrorCode(err) != countersign.CodeStateConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.service.AskToAddPasskey(background, g.actor(session)); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("a question: %v", err)
	}
	if _, err := g.service.AskToAddPasskey(background, g.admin()); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("a token: %v", err)
	}
}

func TestAQuestionIsOfItsSession(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	g.user("eve@example.com")
	ada, eve := g.actor(g.signIn("ada@example.com")), g.actor(g.signIn("eve@example.com"))
	q, err := g.service.AskToAddPasskey(background, ada)
	g.must(err)
	a := authenticator.New(t, "https://"+passkeyHost, passkeyHost)
	answer := a.Create(q.Options)
	if err := g.service.AddPasskey(background, eve, "phone", q.Secret, answer); countersign.ErrorCode(err) != countersign.CodeInvalidRequest {
		t.Errorf("another's question: %v", err)
	}
	g.must(g.service.AddPasskey(background, ada, "phone", q.Secret, answer))
	q, err = g.service.AskToAddPasskey(background, ada)
	g.must(err)
	if g.answers(q.Secret, a.Get(q.Options)) != "" {
		t.Error("the question of an addition signs in")
	}
}

func TestAPasskeyEndsWhenItIsRemovedAndWithItsUser(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	session := g.signIn("ada@example.com")
	first, second := g.adds(session), g.adds(session)
	list, err := g.service.Passkeys(background, g.actor(session))
	g.must(err)
	g.user("eve@example.com")
	if err := g.service.RemovePasskey(background, g.actor(g.signIn("eve@example.com")), list[0].ID); countersign.ErrorCode(err) != countersign.CodeNotFound {
		t.Errorf("another's passkey: %v", err)
	}
	g.must(g.service.RemovePasskey(background, g.actor(session), list[0].ID))
	if in := []bool{g.shows(first) != "", g.shows(second) != ""}; in[0] == in[1] {
		t.Errorf("after one was removed: %v", in)
	}
	_, err = g.service.DeleteUser(background, g.admin(), "ada@example.com", "")
	g.must(err)
	g.user("ada@example.com")
	if g.shows(first) != "" || g.shows(second) != "" {
		t.Error("a passkey works for who was removed and added again")
	}
	g.must(g.store.View(background, func(tx store.Tx) error {
		n, err := tx.Count(store.Meta, "default", store.Query{Where: records.PasskeysOf("ada@example.com")})
		if n != 0 {
			t.Errorf("%d passkeys are left", n)
		}
		return err
	}))
}

// TestAPasskeyIsOfOneTenant, though its user belongs to two.
func TestAPasskeyIsOfOneTenant(t *testing.T) {
	g := withPasskeys(t)
	_, err := g.service.PutTenant(background, g.admin(), "acme", countersign.TenantWrite{Name: "acme"})
	g.must(err)
	g.user("ada@example.com")
	g.keeps("acme", "ada@example.com", countersign.RoleAdmin)
	session := g.signIn("ada@example.com")
	g.must(g.service.SwitchTenant(background, g.actor(session), "default"))
	a := g.adds(session)
	ada := g.actor(g.shows(a))
	if err := g.service.SwitchTenant(background, ada, "acme"); ada.Tenant != "default" || countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("%s, %v", ada.Tenant, err)
	}
	_, err = g.service.DeleteUser(background, g.admin(), "ada@example.com", "")
	g.must(err)
	if g.shows(a) != "" {
		t.Error("it works in the other tenant")
	}
}

// TestAPasskeyOfALinksSessionCarriesTheLinksMakers: who made the link may have added it.
func TestAPasskeyOfALinksSessionCarriesTheLinksMakers(t *testing.T) {
	g := withPasskeys(t)
	g.user("bob@example.com")
	a := g.adds(g.follows(g.link("bob@example.com", 15)))
	bob := g.actor(g.shows(a))
	if !bob.Requester().ByLink() || bob.Lineage[0] != g.admin().ID {
		t.Errorf("%v", bob.Lineage)
	}
}

func TestACopiedPasskeyIsRefusedAndRecorded(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	a := g.adds(g.signIn("ada@example.com"))
	a.Counter = 5
	g.shows(a)
	if g.shows(a) != "" {
		t.Error("a counter that has not risen signs in")
	}
	page, err := g.service.Audit(background, g.admin(), control.List{Limit: 1}, audit.Filter{Subject: "user/ada@example.com"}, false)
	g.must(err)
	if r := page.Items[0]; !strings.HasPrefix(r.Outcome, countersign.AuditRefused) || !strings.Contains(r.Reason, "may have been copied") {
		t.Errorf("%+v", r)
	}
	a.Counter = 6
	if !g.in(g.shows(a)) {
		t.Error("the next answer is refused, too")
	}
}

func TestAUserHasTenPasskeysAtMost(t *testing.T) {
	g := withPasskeys(t)
	g.user("ada@example.com")
	session := g.signIn("ada@example.com")
	for range countersign.MaxPasskeys {
		g.adds(session)
	}
	a := authenticator.New(t, "https://"+passkeyHost, passkeyHost)
	q, err := g.service.AskToAddPasskey(background, g.actor(session))
	g.must(err)
	if err := g.service.AddPasskey(background, g.actor(session), "one more", q.Secret, a.Create(q.Options)); countersign.ErrorCode(err) != countersign.CodeQuotaExceeded {
		t.Errorf("%v", err)
	}
}
