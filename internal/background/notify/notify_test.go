package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/notify"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// letter is a mail that was sent.
type letter struct{ to, subject, text string }

// desk is a store with approvals, and a Postbox that keeps the mails.
type desk struct {
	t       *testing.T
	store   store.Store
	now     time.Time
	eyes    access.Eyes
	refused string // the address that the mail server refuses
	ends    func() // unless nil, called by Send: the process ends while it sends a mail
	tries   int
	letters []letter
	n       *notify.Notifier
}

func openDesk(t *testing.T) *desk {
	d := &desk{t: t, store: rerun.Always(memory.New()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	d.restart()
	return d
}

// restart makes a new Notifier on the same store, as a new process has it.
func (d *desk) restart() {
	d.n = notify.New(d.config(), d.store, d)
}

func (d *desk) config() notify.Config {
	return notify.Config{BaseURL: "https://countersign.example", Eyes: d.eyes, Now: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler)}
}

func (d *desk) Send(_ context.Context, to, subject, text string) error {
	d.tries++
	if d.ends != nil {
		d.ends()
		return context.Canceled
	}
	if to == d.refused {
		return errors.New("no")
	}
	d.letters = append(d.letters, letter{to, subject, text})
	return nil
}

func (d *desk) write(fn func(tx store.Tx) error) {
	d.t.Helper()
	if err := d.store.Update(context.Background(), fn); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) user(tenant, email string, projects []string, roles ...countersign.Role) {
	d.t.Helper()
	d.write(func(tx store.Tx) error {
		_, err := records.Users.Put(tx, tenant, email, &records.User{User: countersign.User{Email: email, TenantID: tenant, Roles: roles, ProjectIDs: projects}}, 0)
		return err
	})
}

// ask stores a pending approval and the run that waits for it.
func (d *desk) ask(tenant, id string, life time.Duration, by access.Requester) {
	d.t.Helper()
	d.askOf(tenant, id, "acme-shop", life, by)
}

func (d *desk) askOf(tenant, id, project string, life time.Duration, by access.Requester) {
	d.t.Helper()
	d.write(func(tx store.Tx) error {
		a := &records.Approval{Approval: countersign.Approval{
			ID: id, RunID: "run-" + id, Status: countersign.ApprovalPending, ProjectID: project, Capability: "refund", RequestedBy: by.ID,
			RequestedAt: d.now, ExpiresAt: d.now.Add(life), InputSnapshot: map[string]countersign.Value{"iban": countersign.String("DE-SECRET")},
		}, Requester: by}
		if _, err := records.Approvals.Put(tx, tenant, id, a, 0); err != nil {
			return err
		}
		u := &records.Unfinished{
			TenantID: tenant, RunID: "run-" + id, State: records.Waiting, Since: d.now, Due: a.ExpiresAt,
			WaitingFor: &countersign.WaitingFor{ApprovalID: id, ExpiresAt: a.ExpiresAt},
		}
		_, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID(tenant, u.RunID), u, 0)
		return err
	})
}

// decide approves an approval, so that its run no longer waits.
func (d *desk) decide(tenant, id string) {
	d.t.Helper()
	d.write(func(tx store.Tx) error {
		a, version, err := records.Approvals.Get(tx, tenant, id)
		if err != nil {
			return err
		}
		a.Status = countersign.ApprovalApproved
		if _, err := records.Approvals.Put(tx, tenant, id, a, version); err != nil {
			return err
		}
		return records.UnfinishedRuns.Delete(tx, store.Realm, records.UnfinishedID(tenant, "run-"+id))
	})
}

// look advances the clock, calls Look and returns the mails that it sent: the first words of
// the subject and the address.
func (d *desk) look(later time.Duration) []string {
	d.t.Helper()
	d.now = d.now.Add(later)
	before := len(d.letters)
	d.n.Look(context.Background())
	var to []string
	for _, l := range d.letters[before:] {
		to = append(to, strings.SplitN(l.subject, ":", 2)[0]+" "+l.to)
	}
	slices.Sort(to)
	return to
}

func (d *desk) is(what string, got []string, want ...string) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

var ada = access.Requester{ID: "user:ada@example.com", Email: "ada@example.com"}

func TestApproversWhoMayDecideAreTold(t *testing.T) {
	d := openDesk(t)
	approver := countersign.RoleApprover
	d.user("acme", "ada@example.com", nil, approver)
	d.user("acme", "ben@example.com", nil, approver)
	d.user("acme", "cleo@example.com", []string{"acme-shop"}, approver, countersign.RoleOperator)
	d.user("acme", "dan@example.com", []string{"acme-other"}, approver)
	d.user("acme", "eve@example.com", nil, countersign.RoleAdmin, countersign.RoleOperator)
	d.user("beta", "fay@example.com", nil, approver)
	d.ask("acme", "one", 24*time.Hour, ada)
	d.is("asked by a user", d.look(0), "Decide ben@example.com", "Decide cleo@example.com")
	d.ask("acme", "two", 24*time.Hour, access.Requester{ID: "token:tok-1", Email: "ben@example.com"})
	d.is("asked by a user's token", d.look(time.Minute), "Decide ada@example.com", "Decide cleo@example.com")
	d.eyes = access.EyesOfAnybody
	d.restart()
	d.ask("acme", "three", 24*time.Hour, ada)
	d.is("where one may decide for oneself", d.look(time.Minute), "Decide ada@example.com", "Decide ben@example.com", "Decide cleo@example.com")
}

func TestEachMailGoesOnceOverRestarts(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "one", 24*time.Hour, ada)
	d.is("at once", d.look(0), "Decide ben@example.com")
	d.is("again", d.look(time.Minute))
	d.restart()
	d.is("after a restart", d.look(time.Minute))
	d.is("a good hour before", d.look(22*time.Hour+50*time.Minute))
	d.is("an hour before", d.look(10*time.Minute), "Expires soon ben@example.com")
	d.restart()
	d.is("after another restart", d.look(time.Minute))
	d.ask("acme", "two", 24*time.Hour, ada)
	d.restart()
	d.is("asked for just before a restart", d.look(0), "Decide ben@example.com")
}

func TestNobodyIsToldOfWhatIsDecidedOrShort(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "decided", 24*time.Hour, ada)
	d.decide("acme", "decided")
	d.is("decided before the first look", d.look(time.Minute))
	d.ask("acme", "later", 24*time.Hour, ada)
	d.is("asked", d.look(0), "Decide ben@example.com")
	d.decide("acme", "later")
	d.is("decided, an hour before", d.look(23*time.Hour+time.Minute))
	d.ask("acme", "short", time.Hour, ada)
	d.is("good for an hour only", d.look(0), "Decide ben@example.com")
	d.is("and reminded of no more", d.look(10*time.Minute))
}

// TestAMailThatFailsIsTriedAgain at growing intervals, also by a new process, and is sent
// only to those who haven't received it.
func TestAMailThatFailsIsTriedAgain(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.user("acme", "cleo@example.com", nil, countersign.RoleApprover)
	d.refused = "cleo@example.com"
	d.ask("acme", "one", 24*time.Hour, ada)
	d.is("one is refused", d.look(0), "Decide ben@example.com")
	for range 3 {
		d.is("too early", d.look(5*time.Second))
	}
	d.is("again, in vain", d.look(time.Minute))
	tried := d.tries
	for range 60 {
		d.look(time.Minute)
	}
	if n := d.tries - tried; n < 2 || n > 8 {
		t.Errorf("within an hour it was tried %d times", n)
	}
	d.restart()
	d.refused = ""
	d.is("after a restart", d.look(time.Hour), "Decide cleo@example.com")
	d.is("and no more", d.look(time.Hour))
	d.is("an hour before", d.look(20*time.Hour), "Expires soon ben@example.com", "Expires soon cleo@example.com")
}

// TestAProcessThatEndsAmidItsMailsIsRelieved by the next one, which mails everybody for whom
// no mail is recorded as sent.
func TestAProcessThatEndsAmidItsMailsIsRelieved(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	ctx, end := context.WithCancel(context.Background())
	d.ends = end
	d.ask("acme", "one", 24*time.Hour, ada)
	d.n.Look(ctx)
	d.ends = nil
	d.restart()
	d.is("while the first may still be at it", d.look(time.Second))
	d.is("later", d.look(10*time.Minute), "Decide ben@example.com")
	d.is("once", d.look(10*time.Minute))
}

// TestAProcessThatWasRelievedChangesNothing: its mail fails after another process has taken over
// its claim and sent the mail.
func TestAProcessThatWasRelievedChangesNothing(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "one", 24*time.Hour, ada)
	slow := d.n
	d.ends = func() {
		d.ends = nil
		d.restart()
		d.is("another process", d.look(10*time.Minute), "Decide ben@example.com")
	}
	slow.Look(context.Background())
	d.is("once", d.look(10*time.Minute))
	d.is("not by the slow process either", func() []string { d.n = slow; return d.look(10 * time.Minute) }())
}

func TestADecidedApprovalIsTriedNoMore(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.refused = "ben@example.com"
	d.ask("acme", "one", 24*time.Hour, ada)
	d.look(0)
	d.decide("acme", "one")
	d.refused = ""
	d.is("decided", d.look(time.Hour))
}

func TestAMailSaysWhatWhoAndUntilWhenAndNothingOfThePayload(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "apr-1", 24*time.Hour, ada)
	d.look(0)
	text := d.letters[0].subject + "\n" + d.letters[0].text
	for _, part := range []string{"refund", "acme-shop", "user ada@example.com", "2 Mar 2026, 12:00 UTC", "https://countersign.example/console/approvals/apr-1\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	if strings.Contains(text, "SECRET") || strings.Contains(text, "iban") {
		t.Errorf("a value is in\n%s", text)
	}
}

func TestManyWaitAndTheirNoticesAreForgottenInTheEnd(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.write(func(tx store.Tx) error {
		_, err := records.SetupLinks.Put(tx, store.Realm, records.SetupID, &records.SetupLink{Hash: "h"}, 0)
		return err
	})
	for i := range 450 {
		d.ask("acme", "a"+strings.Repeat("x", i%7)+string(rune('0'+i%10))+time.Duration(i).String(), 24*time.Hour, ada)
	}
	if told := d.look(0); len(told) != 1 || d.letters[0].subject != "Decide: 450 runs wait" {
		t.Fatalf("%q: %q", told, d.letters)
	}
	if told := d.look(time.Hour); len(told) != 0 {
		t.Fatalf("told again: %q", told)
	}
	for range 4 { // a sweep reads a bounded number of records, and is hours after the one before
		d.look(24 * time.Hour)
	}
	left := 0
	d.write(func(tx store.Tx) (err error) {
		left, err = tx.Count(store.Meta, store.Realm, store.Query{})
		return err
	})
	if left != 1 {
		t.Errorf("%d rows are left beside the set-up link", left-1)
	}
}

// TestAMailWritesOutWhatHidesInANameAndSaysWhoseItIs: a token's name may be any text, so
// hidden characters in it are escaped, and the mail says that it is a token's.
func TestAMailWritesOutWhatHidesInANameAndSaysWhoseItIs(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.write(func(tx store.Tx) error {
		rec := &records.Token{Token: countersign.Token{ID: "tok-1", TenantID: "acme", Name: "ben\u202e p\u0430y"}}
		_, err := records.Tokens.Put(tx, "acme", rec.ID, rec, 0)
		return err
	})
	d.ask("acme", "apr-1", 24*time.Hour, access.Requester{ID: "token:tok-1"})
	d.look(0)
	if text, want := d.letters[0].text, `token tok-1 “ben\u202e p`+"\u0430"+`y [mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a]”`; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}
