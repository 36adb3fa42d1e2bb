package test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var csrfField = regexp.MustCompile(`name="csrf" value="([0-9a-f]{128})"`)

// sendForm opens a page and submits its form with these fields.
func sendForm(t *testing.T, b *harness.Browser, path string, fields url.Values) *harness.Page {
	t.Helper()
	p := b.Open(path)
	found := csrfField.FindStringSubmatch(p.Text)
	if p.Status != 200 || found == nil {
		t.Fatalf("%s: %d, no form", path, p.Status)
	}
	form := url.Values{"csrf": {found[1]}}
	for name, values := range fields {
		form[name] = values
	}
	path, _, _ = strings.Cut(path, "?")
	return b.Submit(path, form)
}

func shows(t *testing.T, what string, p *harness.Page, status int, texts ...string) {
	t.Helper()
	if p.Status != status {
		t.Errorf("%s: %d, want %d", what, p.Status, status)
	}
	for _, text := range texts {
		if !strings.Contains(p.Text, text) {
			t.Errorf("%s: %q is not on the page\n%.3000s", what, text, p.Text[max(0, strings.Index(p.Text, "<main")):])
		}
	}
}

var consoleToken = regexp.MustCompile(`csn_[0-9A-Za-z]{49}`)

func TestATokenIsShownOnceOnTheAnswerThatMadeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	w.Admin.Put("/users/ben@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	made := sendForm(t, ada, "/access/tokens/new", url.Values{
		"name": {"the shop's back end"}, "roles": {"OPERATOR"}, "reach": {"some"}, "projects": {shop}, "modes": {"DRY_RUN"}, "days": {"7"}, "userEmail": {"ben@example.com"},
	})
	shows(t, "the answer", made, 201, "Copy the token now", "DRY_RUN only", shop)
	secret := consoleToken.FindString(made.Text)
	w.Keep(secret)
	if strings.Contains(made.URL.String(), secret) || made.URL.Path != "/console/access/tokens/new" {
		t.Errorf("the answer is at %s", made.URL)
	}
	record := w.Admin.Get("/tokens").OK(t)
	if strings.Contains(record.String(), secret) {
		t.Error("the secret can be read again")
	}
	holder := w.As(secret)
	holder.Get("/projects/" + shop).OK(t)
	holder.Get("/tokens").Refused(t, "role_required")
	list := ada.Open("/access/tokens")
	shows(t, "the list", list, 200, "the shop&#39;s back end", "for ben@example.com", "DRY_RUN only")
	if strings.Contains(list.Text, secret) {
		t.Error("the list shows the secret")
	}
}

func TestATokenFormKeepsWhatWasTypedAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	good := url.Values{"name": {"kept name"}, "roles": {"VIEWER"}, "reach": {"all"}, "modes": {"LIVE"}, "days": {"30"}}
	for field, c := range map[string]struct{ value, says string }{
		"roles":     {"", "Choose at least one role."},
		"reach":     {"", "Say how far it reaches."},
		"modes":     {"", "Choose at least one mode."},
		"days":      {"91", "Enter a whole number from 1 to 90."},
		"name":      {" ", "Say what the token is for."},
		"userEmail": {"nobody", "it is no e-mail address"},
	} {
		form := url.Values{}
		for name, v := range good {
			form[name] = v
		}
		form[field] = nil
		if c.value != "" {
			form[field] = []string{c.value}
		}
		p := sendForm(t, ada, "/access/tokens/new", form)
		shows(t, field, p, 400, c.says, `role="alert"`)
		if field != "name" && !strings.Contains(p.Text, `value="kept name"`) {
			t.Errorf("%s: the name is lost", field)
		}
	}
	p := sendForm(t, ada, "/access/tokens/new", url.Values{"name": {"n"}, "roles": {"VIEWER"}, "reach": {"some"}, "modes": {"LIVE"}, "days": {"30"}})
	shows(t, "no project ticked", p, 400, "Name at least one project, or choose all.")
	if n := len(w.Admin.Get("/tokens").OK(t).At("items").Items()); n != len(w.tokens(t)) {
		t.Errorf("%d tokens", n)
	}
}

// tokens are the names of the tokens that the world created.
func (w *world) tokens(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, item := range w.Admin.Get("/tokens").OK(t).At("items").Items() {
		if name := item.At("name").Text(); name != "n" && name != "kept name" {
			names = append(names, name)
		}
	}
	return names
}

func TestRevokingATokenAsksFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	holder, record := w.token(t, doc{"roles": []string{"VIEWER"}, "name": "old one"})
	path := "/access/tokens/" + record.At("id").Text() + "/revoke"
	shows(t, "the question", ada.Open(path), 200, "Every later request with this token is refused.")
	holder.Get("/runs").OK(t)
	shows(t, "the list", sendForm(t, ada, path, nil), 200, "Revoked")
	holder.Get("/runs").Refused(t, "unauthenticated")
	shows(t, "again", ada.Open(path), 200, "Nothing to revoke")
}

func TestUsersAreAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	add := url.Values{"email": {"Ben@Example.com"}, "roles": {"APPROVER", "VIEWER"}, "reach": {"some"}, "projects": {shop}}
	shows(t, "the list", sendForm(t, ada, "/access/users/new", add), 200, "ben@example.com", "Approver, Viewer", shop)
	shows(t, "added again", sendForm(t, ada, "/access/users/new", add), 400, "is a user already", `value="Ben@Example.com"`)
	ben := w.NewBrowser()
	ben.SignIn("ben@example.com")
	w.As("").Get("/session", ben.Cookie()).OK(t)
	form := ada.Open("/access/users/ben@example.com")
	shows(t, "the form", form, 200, `value="APPROVER" checked`, `value="some" checked`, `value="`+shop+`" checked`)
	sendForm(t, ada, "/access/users/ben@example.com", url.Values{"roles": {"VIEWER"}, "reach": {"all"}})
	now := w.Admin.Get("/users").OK(t).String()
	if strings.Contains(now, "APPROVER") || strings.Contains(now, "projectIds") {
		t.Errorf("%s", now)
	}
	shows(t, "no role", sendForm(t, ada, "/access/users/ben@example.com", url.Values{"reach": {"all"}}), 400, "Choose at least one role.")
	shows(t, "a role that is none", sendForm(t, ada, "/access/users/ben@example.com", url.Values{"roles": {"ROOT"}, "reach": {"all"}}), 400)
	shows(t, "the question", ada.Open("/access/users/ben@example.com/remove"), 200, "They will be signed out at once")
	w.As("").Get("/session", ben.Cookie()).OK(t)
	sendForm(t, ada, "/access/users/ben@example.com/remove", nil)
	w.As("").Get("/session", ben.Cookie()).Refused(t, "unauthenticated")
	shows(t, "gone", ada.Open("/access/users/ben@example.com"), 404, "Page not found")
}

func TestOnlyAdminsSeeAccessAndOnlyTheRealmSeesTenants(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	viewer, admin := w.person(t, "vic@example.com", "OPERATOR", "APPROVER"), w.person(t, "ada@example.com", "ADMIN")
	for _, path := range []string{"/access", "/access/tokens", "/access/tenants", "/access/users/ada@example.com", "/audit", "/audit/verify", "/audit/records/0", "/audit?since=x"} {
		shows(t, path, viewer.Open(path), 403)
	}
	if p := viewer.Open("/"); strings.Contains(p.Text, "/console/access") || strings.Contains(p.Text, "/console/audit\"") {
		t.Error("the navigation leads where the visitor may not go")
	}
	for _, path := range []string{"/access/tenants", "/access/tenants/acme", "/access/tenants/new", "/audit?log=realm", "/audit/verify?log=realm", "/audit/records/0?log=realm"} {
		shows(t, path, admin.Open(path), 403)
	}
	for _, path := range []string{"/access?tenant=acme", "/access/tokens?tenant=acme", "/access?tenant=nothing"} {
		shows(t, path, admin.Open(path), 404)
	}
	if p := admin.Open("/access"); strings.Contains(p.Text, "/access/tenants") {
		t.Error("the tab of tenants is there")
	}
}

func TestARealmAdministratorMakesATenantAndItsFirstAdmin(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("ADMIN_EMAIL", "root@example.com"))
	root := s.NewBrowser()
	root.SignIn("root@example.com")
	s.Keep(root.Session())
	shows(t, "a bad id", sendForm(t, root, "/access/tenants/new", url.Values{"id": {"Acme-1"}, "name": {"Acme"}}), 400, "a letter first", `value="Acme-1"`)
	shows(t, "made", sendForm(t, root, "/access/tenants/new", url.Values{"id": {"acme"}, "name": {"Acme"}}), 200, "acme", "Acme")
	shows(t, "made again", sendForm(t, root, "/access/tenants/new", url.Values{"id": {"acme"}, "name": {"Other"}}), 409, "Not saved", `value="Other"`)
	sendForm(t, root, "/access/tenants/acme", url.Values{"revision": {"1"}, "name": {"Acme Ltd"}})
	shows(t, "renamed over an old revision", sendForm(t, root, "/access/tenants/acme", url.Values{"revision": {"1"}, "name": {"Mine"}}), 409, "Not saved", `value="Mine"`, "Acme Ltd", `name="revision" value="2"`)
	shows(t, "its users", sendForm(t, root, "/access/users/new?tenant=acme", url.Values{"tenant": {"acme"}, "email": {"ada@acme.example"}, "roles": {"ADMIN"}, "reach": {"all"}}), 200, "tenant acme", "ada@acme.example")
	shows(t, "its tokens", sendForm(t, root, "/access/tokens/new?tenant=acme", url.Values{
		"tenant": {"acme"}, "name": {"n"}, "roles": {"VIEWER"}, "reach": {"some"}, "more": {"acme-one, acme-two"}, "modes": {"DRY_RUN", "LIVE"}, "days": {"1"},
	}), 201, "acme-two", "DRY_RUN and LIVE")
	shows(t, "another tenant's project", sendForm(t, root, "/access/tokens/new?tenant=acme", url.Values{
		"tenant": {"acme"}, "name": {"n"}, "roles": {"VIEWER"}, "reach": {"some"}, "more": {"default-shop"}, "modes": {"LIVE"}, "days": {"1"},
	}), 400, "begins with acme-", `value="default-shop"`)
	ada := s.NewBrowser()
	ada.SignIn("ada@acme.example")
	shows(t, "acme's admin", ada.Open("/access/tokens"), 200, "acme-one")
	if p := ada.Open("/access"); strings.Contains(p.Text, "root@example.com") {
		t.Error("another tenant's user is seen")
	}
	shows(t, "the realm's log", root.Open("/audit?log=realm"), 200, "tenants.write", "tenant/acme")
}
