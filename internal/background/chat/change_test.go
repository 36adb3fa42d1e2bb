package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

const (
	mara = "mara@x.example"
	noor = "noor@x.example"
	otto = "otto@x.example"
)

// admins are the administrators of acme.
func (r *room) admins(emails ...string) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		for _, email := range emails {
			u := &records.User{User: countersign.User{Email: email, TenantID: "acme", Roles: []countersign.Role{countersign.RoleAdmin}}}
			if _, err := records.Users.Put(tx, "acme", email, u, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// propose stores a change that mara has proposed.
func (r *room) propose(tenant, id string, needed int64) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		c := &records.Change{
			ProposedChange: countersign.ProposedChange{
				ID: id, Title: "Change the rights of pia", Operation: "users.write", Subject: "user/pia", Digest: "digest-of-" + id, Reason: "SECRET", ProposedBy: "user:" + mara,
				ProposedAt: r.now, ExpiresAt: r.now.Add(countersign.ChangeLife), ApprovalsNeeded: needed, Status: countersign.ChangeProposed,
				Diff: []countersign.ChangeDifference{{Path: "roles", Now: countersign.String("SECRET"), Weakens: true, Text: "the roles: SECRET"}, {Path: "name", Was: countersign.String("<!channel>"), Text: "the name"}},
			},
			Proposer: access.Requester{ID: "user:" + mara, Email: mara}, ProposerTenant: tenant, Admins: []string{mara, noor, otto},
		}
		if _, err := records.Changes.Put(tx, tenant, records.ChangeID(id), c, 0); err != nil {
			return err
		}
		open := &records.OpenChanges{Items: []records.OpenChange{{ID: id, By: c.ProposedBy, Digest: c.Digest, ExpiresAt: c.ExpiresAt}}}
		was, version, err := records.AllOpenChanges.Get(tx, tenant, records.OpenChangesID)
		if err == nil {
			open.Items = append(open.Items, was.Items...)
		}
		_, err = records.AllOpenChanges.Put(tx, tenant, records.OpenChangesID, open, version)
		return err
	})
}

// account is the account of an administrator who has confirmed it.
func (r *room) account(email string) control.ChatAccount {
	r.t.Helper()
	who := control.ChatAccount{Service: "room", Workspace: "w", ID: email, Email: email}
	r.write(func(tx store.Tx) error {
		id := records.ChatLinkID("room", "w", email)
		_, version, err := records.ChatLinks.Get(tx, store.Realm, id)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return err
		}
		_, err = records.ChatLinks.Put(tx, store.Realm, id, &records.ChatLink{Service: "room", Workspace: "w", Account: email, Email: email, ConfirmedAt: r.now}, version)
		return err
	})
	return who
}

// told are the messages about changes: their id, whether it may still be decided, and their state.
func (r *room) told() (out []string) {
	for _, p := range r.posts {
		word := " ended: "
		if p.Open {
			word = " open: "
		}
		out = append(out, p.Change+word+strings.Join(p.State, " "))
	}
	return out
}

func (r *room) says(when string, want ...string) {
	r.t.Helper()
	got := r.told()
	if len(got) != len(want) {
		r.t.Fatalf("%s: %q", when, got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			r.t.Errorf("%s: %q, want %q", when, got[i], want[i])
		}
	}
}

// TestAChangeThatWaitsHasOneMessage of a tenant with a channel, over restarts, which says who may decide it, who has, and how it
// ended. No value that changes is in it.
func TestAChangeThatWaitsHasOneMessage(t *testing.T) {
	r := openRoom(t)
	r.admins(mara, noor, otto)
	r.propose("acme", "one", 2)
	r.propose("beta", "two", 1)
	r.look(0)
	r.says("at first", "one open: 2 different administrators must approve. May decide now: "+noor+", "+otto+". It is not made yet. Waits for a decision until 2 Mar 2026, 12:00 UTC; undecided, it lapses.")
	if m := r.posts[0]; m.Title != "Change the rights of pia" || m.Link != "https://countersign.example/console/changes/one" || m.Digest != "digest-of-one" || strings.Contains(m.Facts[0].Value+m.Facts[1].Value, "SECRET") || m.Facts[0].Value != "1 of 2 places that change; whoever decides sees all" {
		t.Errorf("%+v", m)
	}
	r.restart()
	r.look(time.Second)
	desk := r.chat.Desk()
	at := chat.Place{Channel: "C1", Message: "m1"}
	ref := chat.Ref{Tenant: "acme", Change: "one", Digest: "digest-of-one"}
	q, a := desk.Ask(context.Background(), r.account(noor), at, ref, approved)
	if want := "weaker: the roles: SECRET\n  roles: \"SECRET\", was nothing\nalso: the name\n  name: nothing, was \"<!channel>\""; a.Result != chat.Asked || q.Request != want || q.Shows != "This is changed:" {
		t.Errorf("%+v, %+v", q, a)
	}
	if a := desk.Decide(context.Background(), r.account(noor), at, ref, approved, "fine"); a != (chat.Answer{Result: chat.Decided, Text: "Your approval is recorded as that of " + noor + ". Others must approve too before it is made."}) {
		t.Errorf("%+v", a)
	}
	if a := desk.Decide(context.Background(), r.account(noor), at, ref, approved, "again"); a.Result != chat.Already {
		t.Errorf("twice: %+v", a)
	}
	r.look(time.Second)
	r.says("one has approved", "one open: Approved by "+noor+" on 1 Mar 2026, 12:00 UTC: fine 2 different administrators must approve. May decide now: "+otto+".")
	r.look(countersign.ChangeLife)
	r.says("nobody else in time", "one ended: Approved by "+noor+" on 1 Mar 2026, 12:00 UTC: fine It has lapsed: nobody has decided it in time. Nothing more can be decided here.")
	if r.kept() != 0 {
		t.Error("its message is kept")
	}
}

// TestAChangeIsRejectedInAChat, and its message says so.
func TestAChangeIsRejectedInAChat(t *testing.T) {
	r := openRoom(t)
	r.admins(mara, noor, otto)
	r.propose("acme", "one", 1)
	r.look(0)
	ref := chat.Ref{Tenant: "acme", Change: "one", Digest: "digest-of-one"}
	a := r.chat.Desk().Decide(context.Background(), r.account(otto), chat.Place{Channel: "C1", Message: "m1"}, ref, countersign.ApprovalRejected, "no")
	if a != (chat.Answer{Result: chat.Decided, Text: "Rejected. Recorded as the decision of " + otto + "."}) {
		t.Errorf("%+v", a)
	}
	r.look(time.Second)
	r.says("the end", "one ended: Rejected by "+otto+" on 1 Mar 2026, 12:00 UTC: no It is rejected. Nothing more can be decided here.")
}

// TestWhoMayNotDecideAChangeIsToldWhyInAChat before a reason is asked for.
func TestWhoMayNotDecideAChangeIsToldWhyInAChat(t *testing.T) {
	r := openRoom(t)
	r.admins(mara, noor, otto)
	r.approver("ann@x.example")
	r.propose("acme", "one", 1)
	r.propose("beta", "two", 1)
	r.look(0)
	late := r.account("pia@x.example")
	r.admins("pia@x.example") // since it was proposed
	ref := chat.Ref{Tenant: "acme", Change: "one", Digest: "digest-of-one"}
	for name, c := range map[string]struct {
		who  control.ChatAccount
		ref  chat.Ref
		want chat.Result
		text string
	}{
		"no administrator":        {r.account("ann@x.example"), ref, chat.NotAllowed, "Nothing was changed: this needs the role ADMIN; you have APPROVER."},
		"its proposer":            {r.account(mara), ref, chat.NotAllowed, "Nothing was changed: you proposed change one, or who did and you go back to one maker, so somebody else must decide."},
		"who wasn't one then":     {late, ref, chat.NotAllowed, "Nothing was changed: only who was an administrator when change one was proposed, on 2026-03-01 12:00:00Z, decides it."},
		"another change":          {r.account(noor), chat.Ref{Tenant: "acme", Change: "one", Digest: "other"}, chat.Unknown, "Nothing was changed: this message is about another change. Decide on its page: https://countersign.example/console/changes/one"},
		"no change":               {r.account(noor), chat.Ref{Tenant: "acme", Change: "none"}, chat.Unknown, "Nothing was changed: there is no change none."},
		"another tenant's change": {r.account(noor), chat.Ref{Tenant: "beta", Change: "two"}, chat.Unknown, "Nothing was changed: no approvals of this tenant are decided here."},
	} {
		at := chat.Place{Channel: "C1", Message: "m1"}
		if _, a := r.chat.Desk().Ask(context.Background(), c.who, at, c.ref, approved); a.Result != c.want || a.Text != c.text {
			t.Errorf("%s asks: %+v", name, a)
		}
		if a := r.chat.Desk().Decide(context.Background(), c.who, at, c.ref, approved, "r"); a.Result != c.want || a.Text != c.text {
			t.Errorf("%s decides: %+v", name, a)
		}
	}
	r.write(func(tx store.Tx) error {
		_, err := records.Settings.Put(tx, "acme", records.SettingsID, &countersign.TenantSettings{DecisionAssertion: countersign.DecisionAssertionPasskey}, 0)
		return err
	})
	_, a := r.chat.Desk().Ask(context.Background(), r.account(noor), chat.Place{}, ref, approved)
	if a.Result != chat.NotAllowed || !strings.HasSuffix(a.Text, " https://countersign.example/console/changes/one") {
		t.Errorf("where passkeys sign: %+v", a)
	}
	if a := r.chat.Desk().Decide(context.Background(), r.account(noor), chat.Place{}, ref, approved, "r"); a.Result != chat.NotAllowed {
		t.Errorf("where passkeys sign: %+v", a)
	}
	if _, a := r.chat.Desk().Ask(context.Background(), r.account(noor), chat.Place{}, ref, countersign.ApprovalRejected); a.Result != chat.Asked {
		t.Errorf("a rejection needs no signature: %+v", a)
	}
}
