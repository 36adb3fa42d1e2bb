package test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/authenticator"
	"github.com/countersign/countersign/internal/testing/oidctest"
	"github.com/countersign/countersign/test/harness"
)

const providerAlone = "sessions begin by the identity provider alone here (SVC_PLATFORM_SIGN_IN=oidc); sign in there"

// atProvider signs a browser in at the provider, whatever the public address is.
func atProvider(t *testing.T, w *world, b *harness.Browser) {
	t.Helper()
	found := goOn.FindStringSubmatch(b.Submit("/oidc", url.Values{"next": {"/"}}).Text)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(html.UnescapeString(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	_, path, _ := strings.Cut(res.Header.Get("Location"), "/console")
	if b.Open(path); b.Session() == "" {
		t.Fatal("the provider signs nobody in")
	}
	w.Keep(b.Session())
}

// TestTheProviderAloneBeginsSessions: what began otherwise ends at the start with this setting, and
// neither a code, a link nor a passkey signs in, whether it was made before or after.
func TestTheProviderAloneBeginsSessions(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost:8080"
	issuer := oidctest.New(t)
	w := newWorld(t, harness.Set("OIDC_ISSUER", issuer.URL), harness.Set("OIDC_CLIENT_ID", oidctest.ClientID), harness.Set("PUBLIC_URL", origin),
		harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", oidctest.ClientSecret))
	w.Keep(oidctest.ClientSecret)
	byCode := w.person(t, "ada@example.com", "APPROVER", "ADMIN")
	device := authenticator.New(t, origin, "localhost")
	add := func(b *harness.Browser) *harness.Page {
		form := w.csrfField(t, b)
		p := b.Submit("/settings/passkeys/ask", form)
		if p.Status != 200 {
			return p
		}
		question, options := asksForPasskey(t, b, "/settings/passkeys/ask", form)
		form.Set("question", question)
		form.Set("answer", device.Create(options))
		form.Set("name", "phone")
		return b.Submit("/settings/passkeys", form)
	}
	if p := add(byCode); p.Status != 200 {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
	byLink := w.byLink(t, w.Admin, "ada@example.com")
	_, link := linkOf(t, w.Admin.Post("/users/ada@example.com/sign-in-link", doc{}).OK(t))
	w.Keep(link)
	byKey := w.NewBrowser()
	question, options := asksForPasskey(t, byKey, "/sign-in/passkey/ask", url.Values{})
	pending := w.NewBrowser()
	pending.Submit("/sign-in", url.Values{"email": {"ada@example.com"}})
	code := w.SignInCode("ada@example.com", 0)
	before := w.NewBrowser()
	atProvider(t, w, before)

	w.Stop()
	w.Restart(harness.Set("SIGN_IN", "oidc"))
	for name, b := range map[string]*harness.Browser{"a code": byCode, "a link": byLink} {
		w.As("").Get("/session", b.Cookie()).Refused(t, "unauthenticated", "the session has ended; sign in again")
		if p := b.Open("/settings"); p.URL.Path != "/console/sign-in" {
			t.Errorf("a session by %s goes on at %s", name, p.URL)
		}
	}
	w.As("").Get("/session", before.Cookie()).OK(t).Is(t, "email", "ada@example.com")
	log := w.Admin.Get("/audit?action=sessions.end&actor=system").OK(t)
	log.Is(t, "total", 2).Is(t, "items.0.subject", "user/ada@example.com").Is(t, "items.0.reason", "sessions begin by the identity provider alone")

	for _, c := range []struct {
		path string
		form url.Values
		b    *harness.Browser
	}{
		{"/sign-in/code", url.Values{"code": {code}}, pending},
		{"/sign-in/link", url.Values{"link": {link}}, w.NewBrowser()},
		{"/sign-in/passkey", url.Values{"question": {question}, "answer": {device.Get(options)}}, byKey},
		{"/sign-in", url.Values{"email": {"ada@example.com"}}, w.NewBrowser()},
		{"/sign-in/passkey/ask", nil, w.NewBrowser()},
	} {
		p := c.b.Submit(c.path, c.form)
		if p.Status != 409 || c.b.Session() != "" || !strings.HasPrefix(c.path, "/sign-in/passkey") && !strings.Contains(p.Text, providerAlone[1:]) {
			t.Errorf("%s: %d %q", c.path, p.Status, c.b.Session())
		}
	}
	if p := w.NewBrowser().Open("/sign-in/link?link=" + link); p.Status != 409 {
		t.Errorf("the link's page: %d", p.Status)
	}
	w.Admin.Post("/users/ada@example.com/sign-in-link", doc{}).Refused(t, "state_conflict", "a sign-in link would sign nobody in: sessions begin by the identity provider alone here (SVC_PLATFORM_SIGN_IN=oidc)")
	w.operator.Post("/users/ada@example.com/sign-in-link", doc{}).Refused(t, "role_required")
	page := w.NewBrowser().Open("/sign-in").Text
	if !strings.Contains(page, "Sign in with 127.0.0.1") || strings.Contains(page, "code") || strings.Contains(page, "passkey") {
		t.Errorf("the page offers more than the provider: %s", page)
	}

	ada := w.NewBrowser()
	atProvider(t, w, ada)
	device = authenticator.New(t, origin, "localhost")
	if p := add(ada); p.Status != 200 {
		t.Errorf("a passkey after signing in at the provider: %d %s", p.Status, p.Text)
	}
	w.Stop()
	w.Restart()
	w.As("").Get("/session", ada.Cookie()).OK(t)
	w.Stop()
	w.Restart(harness.Set("SIGN_IN", "any"))
	w.As("").Get("/session", byCode.Cookie()).Refused(t, "unauthenticated") // it has ended, and wasn't put aside
	again := w.NewBrowser()
	again.SignIn("ada@example.com")
	w.Keep(again.Session())
	w.As("").Get("/session", again.Cookie()).OK(t)
}

// TestTheFirstSetUpComesBeforeTheProvider: its session lasts until the next start, and adds no passkey.
func TestTheFirstSetUpComesBeforeTheProvider(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	s := harness.Start(t, func(settings map[string]string) { delete(settings, "SVC_PLATFORM_BOOTSTRAP_TOKEN") },
		harness.Set("OIDC_ISSUER", issuer.URL), harness.Set("OIDC_CLIENT_ID", oidctest.ClientID), harness.Set("PUBLIC_URL", "http://localhost:8080"),
		harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", oidctest.ClientSecret), harness.Set("SIGN_IN", "oidc"))
	s.Admin = s.As(printed.FindString(s.Log()))
	w := &world{Server: s}
	w.Keep(oidctest.ClientSecret)
	b := s.NewBrowser()
	link := setUpSecret.FindStringSubmatch(s.Log())[1]
	if b.Submit("/setup", url.Values{"link": {link}, "email": {"ada@example.com"}}); b.Session() == "" {
		t.Fatal("the set-up link signs nobody in")
	}
	w.Keep(b.Session())
	s.As("").Get("/session", b.Cookie()).OK(t).Is(t, "realm", true)
	if p := b.Submit("/settings/passkeys/ask", w.csrfField(t, b)); p.Status != 409 || !strings.Contains(strings.ToLower(p.Text), "a passkey is added within 10 minutes of signing in at the identity provider; sign in there, and add it then") {
		t.Errorf("a passkey: %d %s", p.Status, p.Text)
	}
	s.Stop()
	s.Restart()
	s.As("").Get("/session", b.Cookie()).Refused(t, "unauthenticated")
	atProvider(t, w, b)
	s.As("").Get("/session", b.Cookie()).OK(t).Is(t, "realm", true)
}
