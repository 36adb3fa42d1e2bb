package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

// lists checks that a letter has one link to each of these approvals, and no other.
func (d *desk) lists(l letter, ids ...string) {
	d.t.Helper()
	const link = "https://countersign.example/console/approvals/"
	for _, id := range ids {
		if strings.Count(l.text, link+id+"\n") != 1 {
			d.t.Errorf("%s stands %d times in %q\n%s", id, strings.Count(l.text, link+id+"\n"), l.subject, l.text)
		}
	}
	if n := strings.Count(l.text, link); n != len(ids) {
		d.t.Errorf("%d approvals are listed, not %d, in %q\n%s", n, len(ids), l.subject, l.text)
	}
}

// TestAnApproverGetsOneMailAMinute: the first mail is sent at once. Approvals requested
// within the next minute are in one mail when the minute is over, also across restarts. Each
// mail lists all approvals that wait for its recipient.
func TestAnApproverGetsOneMailAMinute(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "first", 24*time.Hour, ada)
	d.is("the first", d.look(0), "Decide ben@example.com")
	ids := []string{"first"}
	for i := range 20 {
		id := fmt.Sprintf("apr-%d", i)
		d.ask("acme", id, 24*time.Hour, ada)
		ids = append(ids, id)
		if i == 10 {
			d.restart()
		}
		d.is("within the minute", d.look(2*time.Second))
	}
	d.ask("acme", "decided", 24*time.Hour, ada)
	d.decide("acme", "decided")
	d.is("a second before the minute is over", d.look(19*time.Second))
	d.is("the minute is over", d.look(time.Second), "Decide ben@example.com")
	if last := d.letters[len(d.letters)-1]; last.subject != "Decide: 21 runs wait" {
		t.Errorf("%q", last.subject)
	} else {
		d.lists(last, ids...)
	}
	for range 30 {
		d.is("nothing is new", d.look(10*time.Second))
	}
}

// TestAMailListsTheFirstFifty approvals that wait, and says how many more there are.
func TestAMailListsTheFirstFifty(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	for i := range 240 {
		d.ask("acme", fmt.Sprintf("apr-%d", i), 24*time.Hour, ada)
	}
	d.is("one mail", d.look(0), "Decide ben@example.com")
	if text := d.letters[0].text; strings.Count(text, "/console/approvals/") != 50 || !strings.Contains(text, "and 190 more.\n") || strings.Contains(text, "SECRET") {
		t.Errorf("%s", text)
	}
	for range 10 {
		d.look(100 * time.Second)
	}
	if len(d.letters) != 1 {
		t.Errorf("%d mails", len(d.letters))
	}
}

// TestEachApproverHasAMinuteOfTheirOwn: the minute belongs to the address. A user of two
// tenants has one address, and so one minute.
func TestEachApproverHasAMinuteOfTheirOwn(t *testing.T) {
	d := openDesk(t)
	approver := countersign.RoleApprover
	d.user("acme", "ben@example.com", nil, approver)
	d.user("acme", "cleo@example.com", []string{"acme-other"}, approver)
	d.user("beta", "ben@example.com", nil, approver)
	d.user("beta", "dan@example.com", nil, approver)
	d.ask("acme", "one", 24*time.Hour, ada)
	d.is("asked", d.look(0), "Decide ben@example.com")
	d.ask("beta", "two", 24*time.Hour, ada)
	d.is("in another tenant", d.look(time.Second), "Decide dan@example.com")
	d.is("a minute after the first", d.look(59*time.Second), "Decide ben@example.com")
	d.lists(d.letters[len(d.letters)-1], "two") // only the tenant with a new approval is listed
	d.is("no more", d.look(time.Hour))
}

// TestAMailSaysWhatLapsesSoonFirst: approvals that expire soon come first in the list and in
// the subject.
func TestAMailSaysWhatLapsesSoonFirst(t *testing.T) {
	d := openDesk(t)
	d.user("acme", "ben@example.com", nil, countersign.RoleApprover)
	d.ask("acme", "old", 24*time.Hour, ada)
	d.look(0)
	d.ask("acme", "new", 48*time.Hour, ada)
	d.look(time.Minute)
	d.ask("acme", "newer", 48*time.Hour, ada)
	d.is("it expires in an hour", d.look(23*time.Hour), "Expires soon ben@example.com")
	l := d.letters[len(d.letters)-1]
	d.lists(l, "old", "new", "newer")
	if l.subject != "Expires soon: 1 of 3 runs that wait" || strings.Index(l.text, "/old\n") > strings.Index(l.text, "/new\n") {
		t.Errorf("%q\n%s", l.subject, l.text)
	}
}
