package control_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/authenticator"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const ann = "ann@example.com"

// TestRefusalsOfPeopleSayWhatWouldBeRight reads each message.
func TestRefusalsOfPeopleSayWhatWouldBeRight(t *testing.T) {
	g := openGate(t)
	g.user(ann)
	g.user("bob@example.com")
	admin, session := g.admin(), g.actor(g.signIn(ann))
	linked := g.actor(g.follows(g.link(ann, 15)))
	delegate := func(a control.Actor, w countersign.DelegationWrite) error {
		w.Reason = "leave"
		return refusalOf(g.service.PutDelegation(background, a, ann, w))
	}
	until := func(days int) time.Time { return g.now.Add(time.Duration(days) * 24 * time.Hour) }
	limited := session
	limited.Modes = []string{countersign.ModeLive}
	bob := g.actor(g.signIn("bob@example.com"))
	bob.Person = "bob@example.com"
	_, unknown := g.service.Authenticate(background, "csn_wrong")
	_, ended := g.service.AuthenticateSession(background, "wrong")
	_, stranger := g.service.SignInVerified(background, "eve@example.com", "10.0.0.9", control.Actor{})
	var flood error
	for range 50 {
		if _, _, flood = g.service.CreateLink(background, admin, "bob@example.com", countersign.SignInLinkWrite{}); flood != nil {
			break
		}
	}
	_, last := g.service.RevokeToken(background, admin, admin.ID[len("token:"):], "")
	for _, s := range []refusal{
		{unknown, "unauthenticated: the token is unknown, expired or revoked; send a valid one as Authorization: Bearer"},
		{ended, "unauthenticated: the session has ended; sign in again"},
		{stranger, "unauthenticated: eve@example.com is no user here; an admin can add it"},
		{flood, "quota_exceeded: you have made many sign-in links for bob@example.com just now; wait some minutes, or use the last one"},
		{last, "state_conflict: this is the last realm administrator; make another one first: a token by countersign token issue --tenant default --role ADMIN"},
		{g.service.CanSetUp(background, "wrong"), "unauthenticated: this set-up link is not right, or has expired; with the bootstrap token you can add a user: PUT /users/{email}"},
		{g.service.AcceptInvitation(background, session, "beta"), "not_found: no tenant beta invites you"},
		{g.service.AcceptInvitation(background, linked, "beta"), "role_required: this session began with a sign-in link of token:tok-3, which doesn't prove that you are ann@example.com; sign in another way, and do it then"},
		{g.service.SwitchTenant(background, linked, "beta"), "role_required: this session acts in tenant default only, since a sign-in link or a passkey of that tenant began it; sign in with a code to act in another"},
		{delegate(session, countersign.DelegationWrite{Delegate: "bob@example.com"}), "invalid_request: until: say when it ends"},
		{delegate(session, countersign.DelegationWrite{Delegate: "bob@example.com", Until: until(-1)}), "invalid_request: until: it must be after from, and in the future"},
		{delegate(session, countersign.DelegationWrite{Delegate: "bob@example.com", Until: until(91)}), "invalid_request: until: it must be within 90 days of from"},
		{delegate(limited, countersign.DelegationWrite{Delegate: "bob@example.com", Until: until(1)}), "role_required: this token is limited to some modes, and a delegation is not"},
		{delegate(bob, countersign.DelegationWrite{Delegate: "bob@example.com", Until: until(1)}), "role_required: a delegation of ann@example.com is made by themself, signed in or with a token of theirs that is not limited to projects, or by an ADMIN"},
		{delegate(session, countersign.DelegationWrite{Delegate: ann, Until: until(1)}), "invalid_request: delegate: name another user than ann@example.com"},
		{delegate(session, countersign.DelegationWrite{Delegate: "bob@example.com", Until: until(1)}), "invalid_request: delegate: bob@example.com does not have the role APPROVER; a delegate decides as themself"},
		{refusalOf(g.service.EndDelegation(background, session, ann)), "not_found: ann@example.com has delegated to nobody"},
	} {
		s.check(t)
	}
	refusal{refusalOf(g.service.PutDelegation(background, admin, "eve@example.com", countersign.DelegationWrite{Delegate: ann, Until: until(1), Reason: "r"})), "not_found: there is no user eve@example.com in tenant default"}.check(t)
	g.keeps("default", wideKate, countersign.RoleViewer)
	refusal{refusalOf(g.service.PutUser(background, admin, "kate@example.com", countersign.UserWrite{})), `state_conflict: an earlier release kept this address as \uff4bate@example.com; remove that user first: DELETE /users/%EF%BD%8Bate@example.com`}.check(t)
	g.must(refusalOf(g.service.SetUp(background, g.first.Link, "root@example.com", "10.0.0.8", control.Actor{RequestID: "req-1"})))
	refusal{g.service.CanSetUp(background, g.first.Link), "unauthenticated: this service is set up already, so no set-up link is good any more; sign in, or with the bootstrap token add a user: PUT /users/{email}"}.check(t)
}

// TestRefusalsOfConfirmingATokenSayWhatWouldBeRight reads each message.
func TestRefusalsOfConfirmingATokenSayWhatWouldBeRight(t *testing.T) {
	g := openGate(t)
	g.user(ann)
	g.user("bob@example.com")
	made := func(email string) string {
		token, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleViewer}, UserEmail: email})
		g.must(err)
		return token.ID
	}
	confirm := func(a control.Actor, id string) error {
		return refusalOf(g.service.ConfirmToken(background, a, id))
	}
	session, linked := g.actor(g.signIn(ann)), g.actor(g.follows(g.link(ann, 15)))
	anns, revoked := made(ann), made(ann)
	g.must(refusalOf(g.service.RevokeToken(background, g.admin(), revoked, "")))
	for _, s := range []refusal{
		{confirm(g.admin(), anns), "role_required: a token is confirmed by its user's session in the console, not by a token"},
		{confirm(linked, anns), "role_required: this session began with a sign-in link of token:tok-3, which doesn't prove that you are ann@example.com; sign in another way, and do it then"},
		{confirm(session, revoked), "state_conflict: token tok-12 has ended; nobody can use it any more"},
		{confirm(session, made("bob@example.com")), "role_required: only bob@example.com may confirm token tok-14"},
		{confirm(session, made("")), "role_required: token tok-16 names no user; there is nothing to confirm"},
	} {
		s.check(t)
	}
}

// TestRefusalsOfChatAccountsSayWhatWouldBeRight reads each message.
func TestRefusalsOfChatAccountsSayWhatWouldBeRight(t *testing.T) {
	g := openGate(t)
	g.user(ann)
	account := control.ChatAccount{Service: "slack", Workspace: "T1", ID: "U1", Name: "ann", Email: ann}
	acts := func(email string) error {
		c := account
		c.Email = email
		return refusalOf(g.service.ChatActor(background, "default", c, "req-1"))
	}
	for _, s := range []refusal{
		{acts("\u212aate@example.com"), "role_required: the address of your account can't be a user's: it has a sign that would be read as a letter of another script; write the plain letter"},
		{acts("eve@example.com"), "role_required: the address of your account is no user's of tenant default; an admin can add it"},
		{acts(ann), "the chat account is not confirmed"},
		{g.service.ConfirmChatAccount(background, g.admin(), "slack", "T1", "U1"), "role_required: a chat account is confirmed and removed by its user's session in the console"},
	} {
		s.check(t)
	}
	g.later(24 * time.Hour)
	refusal{g.service.ConfirmChatAccount(background, g.actor(g.signIn(ann)), "slack", "T1", "U1"), "state_conflict: the account asked too long ago; press a button in the chat again"}.check(t)
}

// TestRefusalsOfPasskeysSayWhatWouldBeRight reads each message.
func TestRefusalsOfPasskeysSayWhatWouldBeRight(t *testing.T) {
	g := withPasskeys(t)
	g.user(ann)
	secret := g.signIn(ann)
	session := g.actor(secret)
	add := func(name, answer string) error {
		q, err := g.service.AskToAddPasskey(background, session)
		g.must(err)
		if answer == "" {
			return g.service.AddPasskey(background, session, name, q.Secret, authenticator.New(t, "https://"+passkeyHost, passkeyHost).Create(q.Options))
		}
		return g.service.AddPasskey(background, session, name, q.Secret, answer)
	}
	again := func() error {
		a := g.adds(secret)
		a.Again = true
		q, err := g.service.AskToAddPasskey(background, session)
		g.must(err)
		return g.service.AddPasskey(background, session, "again", q.Secret, a.Create(q.Options))
	}
	for _, s := range []refusal{
		{openGate(t).service.MayAddPasskey(background, session), "state_conflict: browsers allow no passkeys at this service's public address; it must be https, or http://localhost"},
		{g.service.MayAddPasskey(background, g.admin()), "role_required: a passkey is added in a browser's session; you have a token"},
		{add(" ", ""), "invalid_request: name: say which device it is, in at most 60 characters"},
		{add("phone", "{}"), "invalid_request: answer: the browser's answer is not right, or came too late; try again"},
		{again(), "state_conflict: this passkey is registered already"},
		{g.service.RemovePasskey(background, g.admin(), "x"), "role_required: a passkey is removed in a browser's session; you have a token"},
		{g.service.RemovePasskey(background, session, "x"), "not_found: you have no such passkey"},
	} {
		s.check(t)
	}
	for range countersign.MaxPasskeys - 1 {
		g.adds(secret)
	}
	refusal{add("one more", ""), "quota_exceeded: you have 10 passkeys, the most that there may be; remove one first"}.check(t)
	g.later(access.FreshSignIn)
	refusal{g.service.MayAddPasskey(background, session), "state_conflict: a passkey is added within 10 minutes of signing in; sign in again, and add it then"}.check(t)
}

// TestAnAssertionOfAKeyThatIsNotLoggedSaysWhy reads each message.
func TestAnAssertionOfAKeyThatIsNotLoggedSaysWhy(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("waits", 0, countersign.ApprovalPending, "acme-one", "note")
	party, err := passkey.New("https://" + passkeyHost)
	h.must(err)
	eve := judge("eve@acme", countersign.RoleApprover)
	eve.Session = "s"
	h.must(h.store.Update(background, func(tx store.Tx) error {
		u := &records.User{User: countersign.User{Email: eve.Email, TenantID: "acme", Roles: eve.Roles}}
		if _, err := records.Users.Put(tx, "acme", eve.Email, u, 0); err != nil {
			return err
		}
		_, err := records.Sessions.Put(tx, store.Realm, eve.Session, &records.Session{TenantID: "acme", Email: eve.Email, SeenAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}, 0)
		return err
	}))
	sign := func(credential string) error {
		return refusalOf(h.service.Decide(background, eve, "waits", countersign.Decision{
			Decision: countersign.ApprovalApproved, Reason: "seen", Assertion: &countersign.SignedAnswer{CredentialID: credential},
		}))
	}
	keep := func(id string, logged bool) {
		h.must(h.store.Update(background, func(tx store.Tx) error {
			p := &records.Passkey{TenantID: "acme", Email: "eve@acme", Name: "phone", Key: records.Key{ID: []byte(id)}, Logged: logged, Registration: 4711}
			if _, err := records.PasskeyRefs.Put(tx, store.Realm, records.PasskeyRefID([]byte(id)), &records.PasskeyRef{TenantID: "acme", Email: "eve@acme"}, 0); err != nil {
				return err
			}
			_, err := records.Passkeys.Put(tx, "acme", records.PasskeyID("eve@acme", []byte(id)), p, 0)
			return err
		}))
	}
	keep("old", false)
	keep("lost", true)
	without := sign("b2xk")
	h.service.AcceptPasskeys(party)
	for _, s := range []refusal{
		{without, "state_conflict: browsers allow no passkeys at this service's public address; it must be https, or http://localhost"},
		{sign("b2xk="), "assertion_invalid: assertion: credentialId must be base64url without padding"},
		{sign("bm9uZQ"), "assertion_invalid: assertion: it is of no passkey of yours in this tenant; decide in a browser's session, with a passkey that you added there"},
		{sign("b2xk"), "assertion_invalid: assertion: the passkey phone was added before keys were logged; remove it, and add it again"},
		{sign("bG9zdA"), "assertion_invalid: assertion: the audit log has no registration of the passkey phone; remove it, and add it again"},
	} {
		s.check(t)
	}
}

// TestAUserWhoWentMeanwhileIsSaidToHave: between the look-up of an earlier release's spelling
// and the write.
func TestAUserWhoWentMeanwhileIsSaidToHave(t *testing.T) {
	g := openGate(t)
	g.keeps("default", wideKate, countersign.RoleViewer)
	admin := g.admin()
	racing := g.over(rerun.Meanwhile(g.store, func() {
		g.must(refusalOf(g.service.DeleteUser(background, admin, wideKate, "")))
	}))
	_, err := racing.PutUser(background, admin, wideKate, countersign.UserWrite{Roles: []countersign.Role{countersign.RoleViewer}})
	refusal{err, `state_conflict: user \uff4bate@example.com was removed just now; read the users and try again`}.check(t)
}

// TestWhatADamagedStoreLacksIsNamed: the log says which part of what is gone. Clients are told
// that something broke.
func TestWhatADamagedStoreLacksIsNamed(t *testing.T) {
	h, ids := crewed(t)
	started, err := h.startPing(ids[0], countersign.ModeDryRun, "k")
	h.must(err)
	for _, s := range []struct {
		table *store.Table
		id    string
		read  func() error
		want  string
	}{
		{store.AgentRevisions, records.RevisionID(ids[0], 1), func() error { return refusalOf(h.service.Agent(background, as("acme"), ids[0])) }, "content of agent agent-gbrdpmqeo4oaf4ucquvo: agent_revisions agent-gbrdpmqeo4oaf4ucquvo@1: store: not found"},
		{store.TeamRevisions, records.RevisionID("t1", 1), func() error { return refusalOf(h.service.Team(background, as("acme"), "t1")) }, "content of team t1: team_revisions t1@1: store: not found"},
		{store.ProjectRevisions, records.RevisionID("acme-two", 1), func() error { return refusalOf(h.service.Project(background, as("acme"), "acme-two")) }, "content of project acme-two: project_revisions acme-two@1: store: not found"},
		{store.ModelRevisions, records.RevisionID("m3", 1), func() error { return refusalOf(h.service.Model(background, as("acme"), "m3")) }, "document of model m3: model_revisions m3@1: store: not found"},
	} {
		h.must(h.store.Update(background, func(tx store.Tx) error { return tx.Delete(s.table, "acme", s.id) }))
		refusal{s.read(), s.want}.check(t)
	}
	h.must(h.store.Update(background, func(tx store.Tx) error {
		return tx.Delete(records.AllReceiptKeys.Table, store.Realm, records.ReceiptKeysID)
	}))
	refusal{refusalOf(h.service.Receipt(background, as("acme"), h.ended("acme"))), "the store has no key of receipts"}.check(t)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		return tx.Delete(store.ModelRevisions, "acme", records.RevisionID("m1", 1))
	}))
	refusal{refusalOf(h.service.Plan(background, as("acme"), started.Run.PlanID)), "model of agent agent-gbrdpmqeo4oaf4ucquvo: model_revisions m1@1: store: not found"}.check(t)
}

// TestARestoredStoreThatReplicasUseIsRefused reads the refusal.
func TestARestoredStoreThatReplicasUseIsRefused(t *testing.T) {
	h := open(t)
	h.must(h.store.Update(background, func(tx store.Tx) error {
		_, err := records.Replicas.Put(tx, store.Realm, records.ReplicaID("one"), &records.Replica{ID: "one"}, 0)
		return err
	}))
	refusal{refusalOf(h.service.AfterRestore(background, "r", false)), "replicas use the store: one is one of 1"}.check(t)
}

// TestAStoreThatFailedIsSaidToHave, to whoever asks after the service's health.
func TestAStoreThatFailedIsSaidToHave(t *testing.T) {
	g := openGate(t)
	refusal{refusalOf(g.over(failed{g.store}).Health(background)), "unavailable: the store failed; the service is stopping"}.check(t)
}

// failed is a store that can't be written any more.
type failed struct{ store.Store }

func (failed) Failed() <-chan struct{} {
	over := make(chan struct{})
	close(over)
	return over
}
