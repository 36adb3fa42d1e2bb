package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/notify"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestAMailListsWhatLapsesFirstAndCountsTheOthers: it lists and counts only the approvals
// that its recipient may decide.
func TestAMailListsWhatLapsesFirstAndCountsTheOthers(t *testing.T) {
	d := openDesk(t)
	for i := range 240 { // in the order in which they expire
		d.ask("acme", fmt.Sprintf("apr-%03d", i), 24*time.Hour+time.Duration(i)*time.Minute, ada)
	}
	d.look(0) // there is no user to notify yet
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.user("acme", "cleo@example.com", []string{"acme-shop"}, countersign.RoleApprover)
	d.now = d.now.Add(time.Minute)
	d.askOf("acme", "new", "acme-shop", 72*time.Hour, ada)
	for i := range 60 {
		d.askOf("acme", fmt.Sprintf("other-%d", i), "acme-other", 12*time.Hour, ada)
	}
	d.is("both are told", d.look(0), "Decide ben@example.com", "Decide cleo@example.com")
	var first []string
	for i := range 50 {
		first = append(first, fmt.Sprintf("apr-%03d", i))
	}
	cleo := d.letters[1]
	d.lists(cleo, first...)
	if cleo.subject != "Decide: 241 runs wait" || !strings.Contains(cleo.text, "and 191 more.\n") {
		t.Errorf("%q\n%s", cleo.subject, cleo.text)
	}
	if ben := d.letters[0]; ben.subject != "Decide: 301 runs wait" || strings.Count(ben.text, "/console/approvals/other-") != 50 {
		t.Errorf("%q\n%s", ben.subject, ben.text)
	}
}

// TestAMinuteCountsFromWhenAMailWasSent: sending may take long after the claim. Until it has
// ended no other process mails the same address.
func TestAMinuteCountsFromWhenAMailWasSent(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "one", 24*time.Hour, ada)
	another := notify.New(d.config(), d.store, d)
	slow := notify.New(d.config(), d.store, posting(func(to, subject, text string) error {
		d.ask("acme", "two", 24*time.Hour, ada)
		d.now = d.now.Add(90 * time.Second)
		another.Look(context.Background())
		if len(d.letters) != 0 {
			t.Errorf("a mail was sent while one was on its way")
		}
		return d.Send(context.Background(), to, subject, text)
	}))
	slow.Look(context.Background())
	d.is("a second after it was sent", d.look(time.Second))
	d.is("a minute after it was sent", d.look(time.Minute), "Decide ben@example.com")
}

// TestARoundThatIsSlowBeginsNoMoreMails, so that it has ended before another process may
// claim its notices. The remaining mails are sent later, each once.
func TestARoundThatIsSlowBeginsNoMoreMails(t *testing.T) {
	d := openDesk(t)
	for i := range 30 {
		d.user("acme", fmt.Sprintf("ben-%d@example.com", i), nil, countersign.RoleApprover)
	}
	d.ask("acme", "one", 24*time.Hour, ada)
	got, from := map[string]int{}, d.now
	slow := notify.New(d.config(), d.store, posting(func(to, _, _ string) error {
		d.now = d.now.Add(25 * time.Second)
		got[to]++
		return nil
	}))
	slow.Look(context.Background())
	if took := d.now.Sub(from); took > 3*time.Minute || len(got) == 0 {
		t.Errorf("a round of %d mails took %s", len(got), took)
	}
	for range 100 {
		d.now = d.now.Add(time.Minute)
		slow.Look(context.Background())
	}
	if len(got) != 30 {
		t.Errorf("%d people were mailed", len(got))
	}
	for to, n := range got {
		if n != 1 {
			t.Errorf("%s got %d mails", to, n)
		}
	}
}

// TestAllAddressesThatWereMailedLongAgoAreForgotten, even if more addresses precede them
// than one sweep reads.
func TestAllAddressesThatWereMailedLongAgoAreForgotten(t *testing.T) {
	d := openDesk(t)
	young := d.now.Add(100 * 24 * time.Hour)
	d.write(func(tx store.Tx) error {
		for i := range 1100 {
			if _, err := records.Mails.Put(tx, store.Realm, records.MailedID(fmt.Sprintf("a-%04d@example.com", i)), &records.Mailed{At: young}, 0); err != nil {
				return err
			}
		}
		_, err := records.Mails.Put(tx, store.Realm, records.MailedID("old@example.com"), &records.Mailed{At: d.now}, 0)
		return err
	})
	for range 4 {
		d.look(25 * time.Hour)
	}
	err := d.store.View(context.Background(), func(tx store.Tx) error {
		_, _, err := records.Mails.Get(tx, store.Realm, records.MailedID("old@example.com"))
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the old address is there: %v", err)
	}
}

// posting is a function as a Postbox.
type posting func(to, subject, text string) error

func (p posting) Send(_ context.Context, to, subject, text string) error { return p(to, subject, text) }
