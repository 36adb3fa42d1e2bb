package test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestSigningInAgainEndsTheBrowsersEarlierSession: the browser has lost its cookie, so nobody could end the session there, and it would be
// valid for days.
func TestSigningInAgainEndsTheBrowsersEarlierSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, elsewhere := w.person(t, "ada@example.com", "VIEWER"), w.NewBrowser()
	elsewhere.SignIn("ada@example.com")
	earlier := ada.Cookie()
	ada.SignIn("ada@example.com")
	w.As("").Get("/session", earlier).Refused(t, "unauthenticated")
	w.As("").Get("/session", ada.Cookie()).OK(t)
	w.As("").Get("/session", elsewhere.Cookie()).OK(t)
}

func TestSigningInAtAProviderEndsTheBrowsersEarlierSession(t *testing.T) {
	t.Parallel()
	_, w := elsewhere(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	earlier := ada.Cookie()
	ada.Open(atIssuer(t, w, ada, "/settings"))
	w.As("").Get("/session", earlier).Refused(t, "unauthenticated")
	w.As("").Get("/session", ada.Cookie()).OK(t)
}

// TestACookieThatIsNoneHidesNoSession: another host of the domain may set a cookie of the same name, which comes first.
func TestACookieThatIsNoneHidesNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	good := strings.TrimPrefix(string(ada.Cookie()), "Cookie: ")
	for _, planted := range []string{"countersign=x; ", "countersign=" + strings.Repeat("0", 64) + "; "} {
		both := harness.Header("Cookie: " + planted + good)
		w.As("").Get("/session", both).OK(t).Is(t, "email", "ada@example.com")
		w.As("").Post("/tokens", doc{"name": "t", "roles": []string{"VIEWER"}}, both, w.csrf(t, ada)).OK(t)
		if res, _ := exchange(t, w.Server, "GET", "/settings", nil, "Cookie", planted+good); res.StatusCode != 200 {
			t.Errorf("the console with %q: %d", planted, res.StatusCode)
		}
	}
}

func TestALookAtTheSetUpOfAServiceThatIsSetUpSaysSo(t *testing.T) {
	t.Parallel()
	s := harness.StartPrinting(t)
	s.Admin = s.As(printed.FindString(s.Log()))
	link := setupLink.FindStringSubmatch(s.Log())[2]
	b := s.NewBrowser()
	if p := b.Open("/setup?link=wrong"); p.Status != 401 || !strings.Contains(p.Text, "is not right, or has expired") {
		t.Errorf("a wrong link: %d %s", p.Status, p.Text)
	}
	s.NewBrowser().Submit("/setup", url.Values{"link": {link}, "email": {"ada@example.com"}})
	for _, p := range []*harness.Page{b.Open("/setup"), b.Submit("/setup", url.Values{"link": {link}, "email": {"eve@example.com"}})} {
		if p.Status != 401 || !strings.Contains(p.Text, "is set up already") || !strings.Contains(p.Text, `href="/console/sign-in"`) || strings.Contains(p.Text, "signed out") {
			t.Errorf("%d %s", p.Status, p.Text)
		}
	}
}

// TestNoPageLeadsOutOfTheConsole: a redirect target in a form or address must be a page of the console.
func TestNoPageLeadsOutOfTheConsole(t *testing.T) {
	t.Parallel()
	_, w := elsewhere(t)
	ada := w.person(t, "ada@example.com", "VIEWER")
	for _, next := range []string{"/..//evil.example", "/approvals/../../../v1/session", "/%2e%2e/v1/session"} {
		res, _ := exchange(t, w.Server, "POST", "/settings/theme", url.Values{"theme": {"dark"}, "back": {next}})
		if to := res.Header.Get("Location"); to != "/console/" {
			t.Errorf("the theme, %q: %d to %s", next, res.StatusCode, to)
		}
		if p := ada.Open(atIssuer(t, w, ada, next)); p.URL.Path != "/console/" {
			t.Errorf("the provider, %q: %s", next, p.URL)
		}
	}
}
