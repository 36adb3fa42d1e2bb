package test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// person is a browser signed in as a user with these roles.
func (w *world) person(t *testing.T, email string, roles ...string) *harness.Browser {
	t.Helper()
	w.Admin.Put("/users/"+email, doc{"roles": roles}).OK(t)
	b := w.NewBrowser()
	if p := b.SignIn(email); p.Status != 200 || b.Session() == "" {
		t.Fatalf("%s could not sign in: %d %s", email, p.Status, p.Text)
	}
	w.Keep(b.Session())
	return b
}

// csrf is the CSRF token of a session.
func (w *world) csrf(t *testing.T, b *harness.Browser) harness.Header {
	t.Helper()
	return harness.Header("X-CSRF-Token: " + w.As("").Get("/session", b.Cookie()).OK(t).At("csrfToken").Text())
}

func TestASessionActsAsItsUserOnBothPrefixes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "OPERATOR")
	for _, c := range []*harness.Client{w.As(""), w.As("").Aliased()} {
		c.Get("/session", ada.Cookie()).OK(t).Is(t, "email", "ada@example.com").Is(t, "tenantId", "default").Is(t, "realm", false)
		c.Get("/runs", ada.Cookie()).OK(t)
		c.Get("/tokens", ada.Cookie()).Refused(t, "role_required")
	}
	plan := w.operator.Post("/plans", planOf(step("r", "refund", doc{"orderId": "o"}))).OK(t).At("id").Text()
	run := w.As("").Post("/runs", doc{"planId": plan}, key(), ada.Cookie(), w.csrf(t, ada)).OK(t)
	run.Is(t, "requestedBy", "user:ada@example.com")
}

func TestUnsafeRequestsOfASessionNeedItsCSRFToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, ben := w.person(t, "ada@example.com", "ADMIN"), w.person(t, "ben@example.com", "ADMIN")
	body := doc{"name": "n", "roles": []string{"VIEWER"}}
	anonymous := w.As("")
	for name, headers := range map[string][]harness.Header{
		"none":             {ada.Cookie()},
		"another's":        {ada.Cookie(), w.csrf(t, ben)},
		"blank":            {ada.Cookie(), "X-CSRF-Token: x"},
		"from another one": {ada.Cookie(), w.csrf(t, ada), "Origin: https://evil.example"},
		"cross-site":       {ada.Cookie(), w.csrf(t, ada), "Sec-Fetch-Site: cross-site"},
	} {
		if a := anonymous.Post("/tokens", body, headers...); a.Status != 403 || a.At("error").Text() != "csrf" {
			t.Errorf("%s: %s", name, a)
		}
	}
	anonymous.Post("/tokens", body, ada.Cookie(), w.csrf(t, ada)).OK(t)
	refused := w.tenantAdmin.Get("/audit?action=tokens.create&actor=user:ada@example.com").OK(t)
	if n := len(refused.At("items").Items()); n != 2 { // the refusals after the first are counted
		t.Errorf("%d records of five refusals and one token", n)
	}
}

func TestAnAuthorizationHeaderWinsAndNeverFallsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	w.viewer.Get("/tokens", ada.Cookie()).Refused(t, "role_required")
	w.As("garbage").Get("/runs", ada.Cookie()).Refused(t, "unauthenticated")
	if p := w.viewer.Get("/session", ada.Cookie()).OK(t).At("principal").Text(); !strings.HasPrefix(p, "token:") {
		t.Errorf("the header's token is %s", p)
	}
}

func TestASessionEndsWithItsSignOutAndItsUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	form := func(b *harness.Browser) url.Values {
		return url.Values{"csrf": {strings.TrimPrefix(string(w.csrf(t, b)), "X-CSRF-Token: ")}}
	}
	here, there := w.person(t, "ada@example.com", "VIEWER"), w.NewBrowser()
	there.SignIn("ada@example.com")
	before := []harness.Header{here.Cookie(), there.Cookie()}
	here.Submit("/sign-out", form(here))
	w.As("").Get("/runs", before[0]).Refused(t, "unauthenticated")
	w.As("").Get("/runs", before[1]).OK(t)
	here.SignIn("ada@example.com")
	before[0] = here.Cookie()
	there.Submit("/sign-out-everywhere", form(there))
	for _, cookie := range before {
		w.As("").Get("/runs", cookie).Refused(t, "unauthenticated")
	}
	here.SignIn("ada@example.com")
	w.Admin.Delete("/users/ada@example.com").OK(t)
	w.As("").Get("/runs", here.Cookie()).Refused(t, "unauthenticated")
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.As("").Get("/runs", here.Cookie()).Refused(t, "unauthenticated")
}

func TestRightsAreThoseOfTheMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	w.As("").Get("/tokens", ada.Cookie()).OK(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.As("").Get("/tokens", ada.Cookie()).Refused(t, "role_required")
}

// setupLink matches the link that is printed once for an empty store.
var setupLink = regexp.MustCompile(`/console(/setup\?link=([0-9a-f]{64}))`)

func TestTheSetUpLinkWorksOnce(t *testing.T) {
	t.Parallel()
	s := harness.StartPrinting(t)
	s.Admin = s.As(printed.FindString(s.Log()))
	found := setupLink.FindStringSubmatch(s.Log())
	if found == nil {
		t.Fatalf("no set-up link was printed:\n%s", s.Log())
	}
	first, second := s.NewBrowser(), s.NewBrowser()
	for range 3 { // opening the link changes nothing, since mail scanners open it
		if p := first.Open(found[1]); p.Status != 200 || !strings.Contains(p.Text, "Set up and sign in") {
			t.Fatalf("%d %s", p.Status, p.Text)
		}
	}
	first.Submit("/setup", url.Values{"link": {found[2]}, "email": {"ada@example.com"}})
	s.As("").Get("/session", first.Cookie()).OK(t).Is(t, "realm", true).Is(t, "tenantId", "default")
	if p := second.Submit("/setup", url.Values{"link": {found[2]}, "email": {"eve@example.com"}}); p.Status != 401 || second.Session() != "" {
		t.Errorf("a second time: %d %q", p.Status, second.Session())
	}
	if p := second.Open(found[1]); p.Status != 401 {
		t.Errorf("the used link: %d", p.Status)
	}
}

func TestSigningInSaysNothingOfWhoIsAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	var texts []string
	for _, email := range []string{"ada@example.com", "eve@example.com"} {
		b := w.NewBrowser()
		asked := b.Submit("/sign-in", url.Values{"email": {email}})
		wrong := b.Submit("/sign-in/code", url.Values{"email": {email}, "code": {"00000000"}})
		texts = append(texts, strings.ReplaceAll(asked.Text+wrong.Text, email, "E"))
		if wrong.Status != 401 || b.Session() != "" {
			t.Errorf("%s: a wrong code got %d", email, wrong.Status)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("the answers differ:\n%s\n---\n%s", texts[0], texts[1])
	}
}

func TestCodesAreBoundToTheBrowserAndToFewTries(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada, eve := w.NewBrowser(), w.NewBrowser()
	before := len(w.Log())
	ada.Submit("/sign-in", url.Values{"email": {"ada@example.com"}})
	code := ""
	harness.Until(t, "the code", func() bool {
		found := regexp.MustCompile(`\b\d{8}\b`).FindString(w.Log()[before:])
		code = found
		return found != ""
	})
	eve.Submit("/sign-in", url.Values{"email": {"eve@example.com"}})
	if eve.Submit("/sign-in/code", url.Values{"code": {code}}); eve.Session() != "" {
		t.Error("somebody else's browser used the code")
	}
	for range 5 {
		ada.Submit("/sign-in/code", url.Values{"code": {"00000000"}})
	}
	if p := ada.Submit("/sign-in/code", url.Values{"code": {code}}); ada.Session() != "" || p.Status != 401 {
		t.Error("the right code worked after five wrong ones")
	}
}
