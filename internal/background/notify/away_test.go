package notify_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// group stores a group of the tenant acme.
func (d *desk) group(id string, members ...string) {
	d.t.Helper()
	d.write(func(tx store.Tx) error {
		_, err := records.Groups.Put(tx, "acme", records.GroupID(id), &countersign.Group{ID: id, Members: members}, 0)
		return err
	})
}

// names sets the group that an approval names, and its escalations.
func (d *desk) names(id, group string, escalations ...countersign.Escalation) {
	d.t.Helper()
	d.write(func(tx store.Tx) error {
		a, version, err := records.Approvals.Get(tx, "acme", id)
		if err != nil {
			return err
		}
		next := *a
		next.Groups, next.Escalations = []string{group}, escalations
		if _, err := records.Approvals.Put(tx, "acme", id, &next, version); err != nil || len(escalations) == 0 {
			return err
		}
		run := records.UnfinishedID("acme", "run-"+id)
		u, version, err := records.UnfinishedRuns.Get(tx, store.Realm, run)
		if err != nil {
			return err
		}
		waits, f := *u, *u.WaitingFor
		f.EscalatesAt, waits.WaitingFor = escalations[0].At, &f
		_, err = records.UnfinishedRuns.Put(tx, store.Realm, run, &waits, version)
		return err
	})
}

func TestTheDelegateOfAMemberIsTold(t *testing.T) {
	d := openDesk(t)
	for _, email := range []string{"ann@x", "cem@x", "eve@x"} {
		d.user("acme", email, nil, countersign.RoleApprover)
	}
	d.group("finance", "ann@x")
	d.write(func(tx store.Tx) error {
		_, err := records.Delegations.Put(tx, "acme", records.DelegationID("ann@x"), &countersign.Delegation{User: "ann@x", Delegate: "cem@x", From: d.now, Until: d.now.Add(2 * time.Hour)}, 0)
		return err
	})
	d.ask("acme", "first", 24*time.Hour, access.Requester{ID: "token:t"})
	d.names("first", "finance")
	d.is("within it", d.look(0), "Decide ann@x", "Decide cem@x")
	d.now = d.now.Add(2 * time.Hour)
	d.ask("acme", "second", 24*time.Hour, access.Requester{ID: "token:t"})
	d.names("second", "finance")
	d.is("after its end", d.look(0), "Decide ann@x")
}

// TestWhoMayDecideByAnEscalationIsToldWhenItComes: each escalation notifies the people whom
// it adds. The first one also reminds, once, those who were asked before.
func TestWhoMayDecideByAnEscalationIsToldWhenItComes(t *testing.T) {
	d := openDesk(t)
	for _, email := range []string{"ann@x", "bea@x", "cem@x"} {
		d.user("acme", email, nil, countersign.RoleApprover)
	}
	d.group("finance", "ann@x")
	d.group("board", "bea@x")
	d.group("owners", "cem@x")
	d.ask("acme", "a", 24*time.Hour, access.Requester{ID: "token:t"})
	d.names("a", "finance", countersign.Escalation{At: d.now.Add(time.Hour), Groups: []string{"board"}, For: []string{"finance"}},
		countersign.Escalation{At: d.now.Add(3 * time.Hour), Groups: []string{"owners"}, For: []string{"finance"}})
	still := "Still to decide "
	d.is("at once", d.look(0), "Decide ann@x")
	d.is("before the first", d.look(59*time.Minute))
	d.is("with the first", d.look(time.Minute), still+"ann@x", still+"bea@x")
	d.restart()
	d.is("once", d.look(time.Hour))
	d.is("with the second", d.look(time.Hour), still+"cem@x")
	d.restart()
	d.is("no more", d.look(time.Hour))
	d.is("before it expires", d.look(19*time.Hour+time.Minute), "Expires soon ann@x", "Expires soon bea@x", "Expires soon cem@x")
}
