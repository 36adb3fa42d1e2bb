package test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/testing/mailtest"
	"github.com/countersign/countersign/test/harness"
)

// TestThatATokenEndsSoonIsToldEverywhere: the log, a webhook, its maker's mail, the figures, the console and doctor.
func TestThatATokenEndsSoonIsToldEverywhere(t *testing.T) {
	harness.OnlyDirectory(t) // doctor of a database: TestDoctorLooksIntoADatabaseAndChangesNothing
	t.Parallel()
	office := mailtest.Open(t, false)
	l := newListening(t, harness.Set("SMTP_URL", "smtp://"+office.Address()+"?from=countersign@example.com"), harness.Set("METRICS_LISTEN", "127.0.0.1:0"), harness.Set("ADMIN_EMAIL", "root@example.com"))
	l.Admin.Put("/users/ann@example.com", doc{"roles": []string{"ADMIN"}}).OK(t)
	l.Admin.Put("/webhooks/ops", l.hook("/ops", "token.lapsing")).OK(t)
	l.Admin.Put("/webhooks/shop", harness.With(l.hook("/shop", "token.lapsing"), "projectIds", []string{shop})).OK(t)
	made, record := l.reader(t, l.Admin, "metrics", "realm")
	id := record.At("id").Text()
	if n := made.Figures(t).At("countersign_tokens_ending"); n.Exists() && n.Int() != 0 {
		t.Errorf("%s tokens end soon", n)
	}
	l.Stop()
	l.rewriteToken(t, id, func(r *records.Token) {
		r.CreatedBy, r.CreatedAt, r.ExpiresAt = "user:ann@example.com", r.CreatedAt.Add(-80*24*time.Hour), r.CreatedAt.Add(10*24*time.Hour)
	})
	found := harness.Run(t, l.Settings(), "doctor", "-o", "json")
	if !strings.Contains(found.Out, id+" of tenant default, monitor, ends ") || !strings.Contains(found.Out, "renew it: countersign tokens renew, with itself") {
		t.Errorf("doctor says\n%s", found.Out)
	}
	l.Restart()
	told, _ := l.told(t, "/ops", 1)
	told.Is(t, "type", "token.lapsing").Is(t, "data", doc{"tenantId": "default", "tokenId": id, "status": "LAPSING", "link": l.URL + "/console/access/tokens"})
	l.Admin.Get("/audit?action=token.lapsing").OK(t).Is(t, "total", 1).Is(t, "items.0.subject", "token/"+id).Is(t, "items.0.actor", "system").Is(t, "items.0.before", "valid")
	harness.Until(t, "the mail", func() bool { return len(office.Received()) > 0 })
	if mail := office.Received()[0]; !strings.Contains(mail, "To: <ann@example.com>") || !strings.Contains(mail, "monitor ("+id+", tenant default)") || !strings.Contains(mail, "Make a new one, or revoke what nobody uses") {
		t.Errorf("%s", mail)
	}
	harness.Until(t, "the figures", func() bool { return l.Admin.Figures(t).At("countersign_tokens_ending").Int() == 1 })
	figures := l.Admin.Figures(t)
	figures.Is(t, "countersign_installation_tokens_ending", 1)
	if next := figures.At("countersign_token_next_end_timestamp_seconds").Int(); time.Until(time.Unix(int64(next), 0)) > 11*24*time.Hour {
		t.Errorf("the next token ends at %d", next)
	}
	if got := l.ears.Seen("POST", "/shop"); len(got) != 0 {
		t.Errorf("a webhook of one project is told of the tenant's tokens: %s", got[0].Raw)
	}
	next := l.As(made.Token()).Post("/tokens/renew", nil).OK(t)
	l.Keep(next.At("token").Text())
	l.Stop()
	found = harness.Run(t, l.Settings(), "doctor", "-o", "json")
	if !strings.Contains(found.Out, `"none ends soon"`) {
		t.Errorf("after its renewal doctor says\n%s", found.Out)
	}
	l.Restart()
}

func TestAReadingTokenIsMadeInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	shows(t, "the form of any token", ada.Open("/access/tokens/new"), 200, `href="/console/access/tokens/new?reads=1"`)
	form := ada.Open("/access/tokens/new?reads=1")
	shows(t, "its form", form, 200, "The figures", "The audit log", `name="reading"`)
	if strings.Contains(form.Text, `value="realm"`) || strings.Contains(form.Text, `name="modes"`) || strings.Contains(form.Text, `name="userEmail"`) {
		t.Error("it offers what such a token has no use for")
	}
	empty := sendForm(t, ada, "/access/tokens/new", url.Values{"reading": {"yes"}, "name": {" "}, "days": {"91"}})
	shows(t, "nothing chosen", empty, 400, "Choose the figures, the audit log or both.", "Say what the token is for.", "Enter a whole number from 1 to 90.")
	made := sendForm(t, ada, "/access/tokens/new", url.Values{"reading": {"yes"}, "name": {"auditor"}, "days": {"90"}, "reads": {"audit"}})
	shows(t, "the answer", made, 201, "Copy the token now", "the audit log, and nothing else")
	secret := consoleToken.FindString(made.Text)
	w.Keep(secret)
	w.As(secret).Get("/audit?limit=1").OK(t)
	w.As(secret).Get("/runs").Refused(t, "role_required")
	shows(t, "the list", ada.Open("/access/tokens"), 200, "auditor", "reads only")
}
