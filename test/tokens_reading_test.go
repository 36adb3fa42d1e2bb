package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/test/harness"
)

// reader makes a reading token.
func (w *world) reader(t *testing.T, by *harness.Client, reads ...string) (*harness.Client, json) {
	t.Helper()
	made := by.Post("/tokens", doc{"name": "monitor", "reads": reads}).OK(t)
	return w.As(made.At("token").Text()), made
}

func TestAReadingTokenReadsAndDoesNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	metrics, record := w.reader(t, w.tenantAdmin, "metrics")
	record.Is(t, "reads", []string{"metrics"}).Is(t, "roles", []string{}).Is(t, "modes", harness.Absent).Is(t, "projectIds", harness.Absent)
	if life := lifetime(t, record); life != 90*24*time.Hour {
		t.Errorf("it lives for %s", life)
	}
	if !metrics.Get("/metrics").OK(t).At("countersign_projects").Exists() {
		t.Error("no figures")
	}
	metrics.Get("/audit").Refused(t, "role_required", "this token reads the figures")
	audit, _ := w.reader(t, w.tenantAdmin, "audit")
	audit.Get("/audit?limit=1").OK(t)
	audit.Get("/audit/verify").OK(t).Is(t, "intact", true)
	if lines := audit.Do("GET", "/audit/export", nil, "Accept: application/x-ndjson"); lines.Status != 200 || !strings.Contains(lines.Raw, `"tokens.create"`) {
		t.Error(lines)
	}
	audit.Get("/audit?realm=true").Refused(t, "role_required", "realm")
	audit.Get("/metrics").Refused(t, "role_required", "this token reads the audit log")
	both, _ := w.reader(t, w.tenantAdmin, "audit", "metrics")
	both.Get("/audit?limit=1").OK(t)
	both.Get("/metrics").OK(t)
	for _, path := range []string{"/session", "/runs", "/models", "/integrations/contract", "/tokens", "/search?q=monitor"} {
		both.Get(path).Refused(t, "role_required", "anything else needs another token")
	}
	both.Post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}).Refused(t, "role_required")
}

// TestARealmAdministratorMakesTokensThatReadTheRealms: its log, and the figures of the process.
func TestARealmAdministratorMakesTokensThatReadTheRealms(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.tenantAdmin.Post("/tokens", doc{"name": "n", "reads": []string{"metrics", "realm"}}).Refused(t, "role_required", "only a realm administrator makes a token that reads the realm's log and figures; leave realm out of reads")
	whole, _ := w.reader(t, w.Admin, "metrics", "audit", "realm")
	figures := whole.Get("/metrics").OK(t)
	if !figures.At("countersign_slots").Exists() || !figures.At("countersign_projects").Exists() || !figures.At("countersign_build_info").Exists() {
		t.Errorf("%.300s", figures)
	}
	if actions := whole.Get("/audit?realm=true&action=tenants.write").OK(t).At("total").Int(); actions == 0 {
		t.Error("the realm's log is empty")
	}
	whole.Get("/audit/verify?realm=true").OK(t).Is(t, "intact", true)
	whole.Get("/tenants").Refused(t, "role_required")
	whole.Get("/credentials").Refused(t, "role_required")
	own, _ := w.reader(t, w.Admin, "metrics")
	if own.Get("/metrics").OK(t).At("countersign_slots").Exists() {
		t.Error("a token that reads the tenant's figures reads the installation's")
	}
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	made := w.Admin.Post("/tokens", doc{"name": "theirs", "reads": []string{"audit"}, "tenantId": "acme"}).OK(t).Is(t, "tenantId", "acme")
	theirs := w.As(made.At("token").Text())
	if page := theirs.Get("/audit").OK(t); page.At("total").Int() != 1 || page.At("items").Items()[0].At("action").Text() != "tokens.create" {
		t.Errorf("%.300s", page) // acme's log alone
	}
}

func TestAReadingTokenEndsWithItsMakersRole(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	const lost = "this token reads by the role ADMIN of whoever made it, who doesn't have it in the whole tenant any more"
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"ADMIN"}}).OK(t)
	ann := w.NewBrowser()
	ann.SignIn("ann@example.com")
	made := w.As("").Do("POST", "/tokens", doc{"name": "ann's", "reads": []string{"metrics"}}, ann.Cookie(), w.csrf(t, ann)).OK(t).Is(t, "createdBy", "user:ann@example.com")
	hers := w.As(made.At("token").Text())
	hers.Get("/metrics").OK(t)
	for _, rights := range []doc{{"roles": []string{"OPERATOR", "VIEWER"}}, {"roles": []string{"ADMIN"}, "projectIds": []string{shop}}} {
		w.Admin.Put("/users/ann@example.com", rights).OK(t)
		hers.Get("/metrics").Refused(t, "role_required", lost)
		hers.Post("/tokens/renew", nil).Refused(t, "role_required", lost)
	}
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"ADMIN"}}).OK(t)
	hers.Get("/metrics").OK(t) // only while she has it, and while she has it
	w.Admin.Delete("/users/ann@example.com").OK(t)
	hers.Get("/metrics").Refused(t, "role_required", lost)

	maker, record := w.token(t, doc{"roles": []string{"ADMIN"}})
	its, _ := w.reader(t, maker, "audit")
	its.Get("/audit?limit=1").OK(t)
	w.Admin.Delete("/tokens/" + record.At("id").Text()).OK(t)
	its.Get("/audit?limit=1").Refused(t, "role_required", lost)
}

func TestReadingTokensThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/users/anne@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	good := doc{"name": "n", "reads": []string{"metrics"}}
	for field, value := range map[string]any{
		"roles": []string{"VIEWER"}, "projectIds": []string{shop}, "modes": []string{"DRY_RUN"}, "agentIds": []string{"clerk"}, "userEmail": "anne@example.com",
	} {
		w.Admin.Post("/tokens", harness.With(good, field, value)).Refused(t, "invalid_request", field, "leave this out")
	}
	for _, reads := range []any{nil, []string{}, "metrics", []string{"Metrics"}, []string{"runs"}, []string{"metrics", "metrics"}, []any{"metrics", nil}} {
		w.Admin.Post("/tokens", harness.With(good, "reads", reads)).Refused(t, "invalid_request", "reads")
	}
	w.Admin.Post("/tokens", harness.With(good, "reads", []string{"realm"})).Refused(t, "invalid_request", "reads: name metrics or audit besides: realm says that it reads the realm's as well")
	w.Admin.Post("/tokens", doc{"name": "n"}).Refused(t, "invalid_request", "roles: name what the token may do, or in reads what it reads")
	w.Admin.Post("/tokens", harness.With(good, "roles", nil)).OK(t) // null is left out
	limited, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{shop}})
	limited.Post("/tokens", good).Refused(t, "project_scope")
	w.operator.Post("/tokens", good).Refused(t, "role_required")
	dry, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"DRY_RUN"}})
	dry.Post("/tokens", good).Refused(t, "role_required", "DRY_RUN")
	live, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "modes": []string{"LIVE"}})
	live.Post("/tokens", good).OK(t).Is(t, "modes", harness.Absent)
}

// TestAReadingTokenIsRenewedOnce: the new one is like it and lives as long as any, the one before for a day.
func TestAReadingTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.tenantAdmin.Post("/tokens", doc{"name": "monitor", "reads": []string{"metrics", "audit"}, "expiresInDays": 7}).OK(t)
	old := w.As(made.At("token").Text())
	a := old.Post("/tokens/renew", nil)
	if a.Status != 201 {
		t.Error(a)
	}
	next := a.OK(t).Is(t, "name", "monitor").Is(t, "reads", []string{"metrics", "audit"}).Is(t, "createdBy", made.At("createdBy")).Is(t, "tenantId", made.At("tenantId"))
	if life := lifetime(t, next); life != 90*24*time.Hour || next.At("id").Text() == made.At("id").Text() {
		t.Errorf("it lives for %s: %s", life, next)
	}
	renewed := w.As(next.At("token").Text())
	renewed.Get("/metrics").OK(t)
	old.Get("/metrics").OK(t)
	old.Post("/tokens/renew", nil).Refused(t, "state_conflict", fmt.Sprintf("this token was renewed already, as %s; use that one, or have an administrator make another", next.At("id").Text()))
	for _, record := range w.Admin.Get("/tokens?limit=200").OK(t).At("items").Items() {
		if record.At("id").Text() == made.At("id").Text() {
			record.Is(t, "renewedAs", next.At("id"))
			if left := instant(t, record, "expiresAt").Sub(instant(t, next, "createdAt")); left != 24*time.Hour {
				t.Errorf("the old one is good for %s more", left)
			}
		}
	}
	again := renewed.Post("/tokens/renew", nil).OK(t) // each once
	w.Keep(again.At("token").Text())
	w.Admin.Get("/audit?action=tokens.renew&subject=token/"+made.At("id").Text()).OK(t).Is(t, "total", 2) // done, and refused
	w.operator.Post("/tokens/renew", nil).Refused(t, "role_required", "only a reading token renews itself")
	old.Do("PUT", "/tokens/renew", nil).Refused(t, "method_not_allowed")
	old.Post("/tokens/renew", doc{"days": 9}).Refused(t, "invalid_request", "days")
}

func TestOfManyRenewalsAtOnceOneIsMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reader, _ := w.reader(t, w.tenantAdmin, "metrics")
	var all sync.WaitGroup
	made := make(chan string, 16)
	for range cap(made) {
		all.Go(func() {
			if a := reader.Post("/tokens/renew", nil); a.Status == 201 {
				made <- a.At("token").Text()
			} else {
				a.Refused(t, "state_conflict")
			}
		})
	}
	all.Wait()
	if len(made) != 1 {
		t.Errorf("%d tokens were made", len(made))
	}
}

// TestARenewedTokenEndsADayLater, also where it would have been good for longer, and never later than before.
func TestARenewedTokenEndsADayLater(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	reader, record := w.reader(t, w.Admin, "metrics")
	w.Stop()
	w.rewriteToken(t, record.At("id").Text(), func(r *records.Token) { r.ExpiresAt = time.Now().Add(time.Hour).UTC().Truncate(time.Second) })
	w.Restart()
	next := reader.Post("/tokens/renew", nil).OK(t)
	w.Keep(next.At("token").Text())
	for _, r := range w.Admin.Get("/tokens").OK(t).At("items").Items() {
		if r.At("id").Text() == record.At("id").Text() && instant(t, r, "expiresAt").After(time.Now().Add(2*time.Hour)) {
			t.Errorf("its renewal made it live longer: %s", r)
		}
	}
	w.Stop()
	w.rewriteToken(t, record.At("id").Text(), func(r *records.Token) { r.ExpiresAt = r.CreatedAt })
	w.Restart()
	reader.Get("/metrics").Refused(t, "unauthenticated")
	w.As(next.At("token").Text()).Get("/metrics").OK(t)
}

func TestReadingTokensAreMadeAndRenewedByCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	made := s.command(t, 0, "tokens", "create", "--name", "prometheus", "--read", "metrics,audit", "--profile", "admin")
	prints(t, made.Out, "csn_", "reads    metrics, audit")
	prints(t, s.command(t, 0, "tokens", "list", "--all", "--profile", "admin").Out, "READS", "metrics, audit")
	prints(t, s.command(t, 2, "tokens", "create", "--name", "x", "--read", "runs", "--profile", "admin").Err, "--read")
	prints(t, s.command(t, 2, "tokens", "create", "--name", "x", "--read", "audit", "--role", "VIEWER", "--profile", "admin").Err, "--read", "--role")
	file := filepath.Join(s.dir, "metrics.token")
	if err := os.WriteFile(file, []byte(word(t, made.Out, "token")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.settings["COUNTERSIGN_URL"], s.settings["COUNTERSIGN_TOKEN_FILE"] = s.address, file
	prints(t, s.command(t, 2, "tokens", "renew", "--out", filepath.Join(s.dir, "nowhere", "token")).Err, "nothing was renewed, for the token couldn't be written")
	prints(t, s.command(t, 0, "tokens", "renew", "--out", file).Out, "written  "+file, "reads    metrics, audit")
	text, err := os.ReadFile(file)
	if err != nil || !tokenForm.MatchString(strings.TrimSuffix(string(text), "\n")) || strings.Contains(made.Out, strings.TrimSpace(string(text))) {
		t.Errorf("%q: %v", text, err)
	}
	s.Keep(strings.TrimSpace(string(text)))
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", info.Mode(), err)
	}
	prints(t, s.command(t, 0, "audit", "verify").Out, "intact")
	prints(t, s.command(t, 0, "tokens", "renew").Out, "csn_", "reads    metrics, audit")
	prints(t, s.command(t, 3, "tokens", "renew", "--out", file).Err, "renewed already")
	if again, err := os.ReadFile(file); err != nil || string(again) != string(text) {
		t.Errorf("a refused renewal changed the file: %q, %v", again, err)
	}
}
