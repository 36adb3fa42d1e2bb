package tokenends_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/tokenends"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
	"github.com/countersign/countersign/internal/testing/memory"
)

const day = 24 * time.Hour

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// office is a store of one tenant with a user, what watches it, and the mails that are sent.
type office struct {
	t     *testing.T
	store store.Store
	now   time.Time
	away  error // of the mail server
	mails []string
	log   bytes.Buffer
}

func open(t *testing.T) *office {
	o := &office{t: t, store: memory.New(), now: began}
	o.update(func(tx store.Tx) error {
		if _, err := records.Tenants.Put(tx, store.Realm, "acme", &countersign.Tenant{ID: "acme"}, 0); err != nil {
			return err
		}
		_, err := records.Users.Put(tx, "acme", "ann@acme.example", &records.User{User: countersign.User{Email: "ann@acme.example", TenantID: "acme"}}, 0)
		return err
	})
	return o
}

func (o *office) update(fn func(store.Tx) error) {
	o.t.Helper()
	if err := o.store.Update(context.Background(), fn); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) Send(_ context.Context, to, subject, text string) error {
	if o.away != nil {
		return o.away
	}
	o.mails = append(o.mails, to+"\n"+subject+"\n"+text)
	return nil
}

// watcher is one process; each has a memory of its own.
func (o *office) watcher() *tokenends.Watcher {
	return tokenends.New(tokenends.Config{BaseURL: "https://c.example", Post: o, Now: func() time.Time { return o.now }, Log: slog.New(slog.NewTextHandler(&o.log, nil)), Unreadable: unreadable.New(slog.New(slog.DiscardHandler))}, o.store)
}

func (o *office) token(id string, life time.Duration, change func(*records.Token)) {
	rec := &records.Token{Token: countersign.Token{ID: id, Name: "monitor " + id, TenantID: "acme", CreatedBy: "user:ann@acme.example", CreatedAt: began, ExpiresAt: began.Add(life)}}
	if change != nil {
		change(rec)
	}
	o.update(func(tx store.Tx) error {
		_, err := records.Tokens.Put(tx, "acme", id, rec, 0)
		return err
	})
}

// told are the tokens of which the audit log says that they end.
func (o *office) told() (out []string) {
	o.t.Helper()
	err := o.store.View(context.Background(), func(tx store.Tx) error {
		page, err := audit.List(tx, "acme", audit.Filter{Action: tokenends.Ending}, 200, 0)
		for _, r := range page.Items {
			out = append(out, strings.TrimPrefix(r.Subject, "token/"))
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestATokenThatEndsSoonIsToldOnce(t *testing.T) {
	o := open(t)
	o.token("long", 90*day, nil)
	o.token("short", 8*day, nil) // a quarter of its life is two days
	o.token("revoked", 90*day, func(r *records.Token) { r.RevokedAt = began })
	o.token("renewed", 90*day, func(r *records.Token) { r.RenewedAs = "other" })
	w := o.watcher()
	for _, c := range []struct {
		after time.Duration
		told  []string
		mails int
		found tokenends.Found
	}{
		{0, nil, 0, tokenends.Found{Next: began.Add(8 * day)}},
		{6*day - time.Second, nil, 0, tokenends.Found{Next: began.Add(8 * day)}},
		{6 * day, []string{"short"}, 1, tokenends.Found{Ending: 1, Next: began.Add(8 * day)}},
		{7 * day, []string{"short"}, 1, tokenends.Found{Ending: 1, Next: began.Add(8 * day)}},
		{8 * day, []string{"short"}, 1, tokenends.Found{Next: began.Add(90 * day)}},
		{76*day - time.Second, []string{"short"}, 1, tokenends.Found{Next: began.Add(90 * day)}},
		{76 * day, []string{"long", "short"}, 2, tokenends.Found{Ending: 1, Next: began.Add(90 * day)}},
		{90 * day, []string{"long", "short"}, 2, tokenends.Found{}},
	} {
		o.now = began.Add(c.after)
		w.Look(t.Context())
		o.watcher().Look(t.Context()) // another replica
		if got := o.told(); !slices.Equal(got, c.told) || len(o.mails) != c.mails {
			t.Errorf("after %s: told of %q, %d mails; want %q, %d", c.after, got, len(o.mails), c.told, c.mails)
		}
		if w.Found("acme") != c.found || w.Found(store.Realm) != c.found {
			t.Errorf("after %s: found %+v, of all %+v; want %+v", c.after, w.Found("acme"), w.Found(store.Realm), c.found)
		}
	}
}

const wantMail = `ann@acme.example
2 Countersign tokens that you made end soon
What uses them stops working then, unless it has another token by that time.

monitor first (first, tenant acme)
  ends 2026-05-20 12:00 UTC

monitor reads (reads, tenant acme)
  ends 2026-05-30 12:00 UTC
  it renews itself: countersign tokens renew, or POST /v1/tokens/renew with it

Make a new one, or revoke what nobody uses: https://c.example/console/access/tokens
`

func TestOneMailNamesAllTokensOfItsMaker(t *testing.T) {
	o := open(t)
	o.token("first", 80*day, func(r *records.Token) {
		r.CreatedBy, r.Lineage = "token:gone", []string{"token:gone", "user:away@acme.example", "user:ann@acme.example"} // who is a user, nearest
	})
	o.token("reads", 90*day, func(r *records.Token) { r.Reads = []countersign.Reading{countersign.ReadsMetrics} })
	o.token("bootstrap", 90*day, func(r *records.Token) { r.CreatedBy = "system" }) // nobody made it
	o.now = began.Add(77 * day)
	o.watcher().Look(t.Context())
	if len(o.mails) != 1 || o.mails[0] != wantMail {
		t.Errorf("%q", o.mails)
	}
	if got := o.told(); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// TestAMailThatIsNotSentIsTriedAgain, later and later, and by whichever process; the log says it once.
func TestAMailThatIsNotSentIsTriedAgain(t *testing.T) {
	o := open(t)
	o.token("long", 90*day, nil)
	o.now, o.away = began.Add(77*day), errors.New("away")
	o.watcher().Look(t.Context())
	if said := o.log.String(); !strings.Contains(said, "the mail to ann@acme.example: away") {
		t.Errorf("the log says %q", said)
	}
	o.away = nil
	for _, wait := range []time.Duration{0, 14 * time.Minute} {
		o.now = began.Add(77*day + wait)
		if o.watcher().Look(t.Context()); len(o.mails) != 0 {
			t.Errorf("after %s it is tried again", wait)
		}
	}
	o.now = began.Add(77*day + 15*time.Minute)
	o.watcher().Look(t.Context())
	o.now = began.Add(78 * day)
	o.watcher().Look(t.Context())
	if len(o.mails) != 1 || len(o.told()) != 1 {
		t.Errorf("%d mails, told of %q", len(o.mails), o.told())
	}
}
