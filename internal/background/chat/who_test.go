package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestTheMessageSaysWhoMayDecideNow: while an approval waits it escalates, people go away and
// come back, join and leave, and its time runs out. What hasn't changed isn't made again.
func TestTheMessageSaysWhoMayDecideNow(t *testing.T) {
	r := openRoom(t)
	start := r.now
	r.approver("ann@x.example")
	r.approver("bea@x.example")
	r.group("finance", "ann@x.example")
	r.group("board", "bea@x.example")
	r.ask("acme", "one", func(a *records.Approval) {
		a.Groups = []string{"finance"}
		a.Escalations = []countersign.Escalation{{At: start.Add(2 * time.Hour), Groups: []string{"board"}, For: []string{"finance"}}}
	})
	says := func(when string, later time.Duration, parts ...string) {
		t.Helper()
		r.look(later)
		state, made, calls := strings.Join(r.posts[0].State, "\n"), r.made, r.calls
		for _, part := range parts {
			if !strings.Contains(state, part) {
				t.Errorf("%s: %q is missing in %q", when, part, state)
			}
		}
		for range 3 {
			r.look(time.Second)
		}
		if r.made != made || r.calls != calls {
			t.Errorf("%s: it was made %d times and sent %d times though nothing has changed", when, r.made-made, r.calls-calls)
		}
	}
	says("at first", 0, "Members of finance decide.\nFrom 1 Mar 2026, 14:00 UTC members of board may decide in place of finance.", "May decide now: ann@x.example.\nWaits")
	says("escalated", 2*time.Hour, "Escalated: since 1 Mar 2026, 14:00 UTC members of board", "May decide now: ann@x.example, bea@x.example.")
	r.approver("cem@x.example")
	r.write(func(tx store.Tx) error {
		d := &countersign.Delegation{User: "ann@x.example", Delegate: "cem@x.example", From: r.now.Add(time.Hour), Until: r.now.Add(3 * time.Hour)}
		_, err := records.Delegations.Put(tx, "acme", records.DelegationID(d.User), d, 0)
		return err
	})
	says("before the delegation", time.Second, "May decide now: ann@x.example, bea@x.example.")
	says("within the delegation", time.Hour, "May decide now: ann@x.example, bea@x.example, cem@x.example (in place of ann@x.example).")
	says("after the delegation", 2*time.Hour, "May decide now: ann@x.example, bea@x.example.")
	r.group("finance")
	says("after ann has left", time.Second, "May decide now: bea@x.example.")
	r.group("board")
	says("after all have left", time.Second, "No user may decide it now.")
	says("in the last hour", start.Add(23*time.Hour).Sub(r.now), "Expires soon. Waits for a decision until 2 Mar 2026, 12:00 UTC")
	r.restart()
	calls := r.calls
	r.chat.Look(context.Background())
	if r.calls != calls {
		t.Error("a restart sends what was said")
	}
	says("after a restart", 0)
}

// approver adds a user of tenant acme.
func (r *room) approver(email string) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		u := &records.User{User: countersign.User{Email: email, TenantID: "acme", Roles: []countersign.Role{countersign.RoleApprover}}}
		_, err := records.Users.Put(tx, "acme", email, u, 0)
		return err
	})
}

// session signs a user of tenant acme in.
func (r *room) session(id, email string) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		s := &records.Session{TenantID: "acme", Email: email, SeenAt: r.now, ExpiresAt: r.now.Add(time.Hour)}
		_, err := records.Sessions.Put(tx, store.Realm, id, s, 0)
		return err
	})
}

// group adds or changes a group of tenant acme.
func (r *room) group(id string, members ...string) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		_, version, err := records.Groups.Get(tx, "acme", records.GroupID(id))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		_, err = records.Groups.Put(tx, "acme", records.GroupID(id), &countersign.Group{ID: id, Members: members}, version)
		return err
	})
}
