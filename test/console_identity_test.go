package test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/mailtest"
	"github.com/countersign/countersign/internal/testing/oidctest"
	"github.com/countersign/countersign/test/harness"
)

// exchange is one raw request to the console.
func exchange(t *testing.T, s *harness.Server, method, path string, form url.Values, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+"/console"+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// cookieOf is the Set-Cookie header of a cookie.
func cookieOf(res *http.Response, name string) string {
	for _, line := range res.Header.Values("Set-Cookie") {
		if strings.HasPrefix(line, name+"=") {
			return line
		}
	}
	return ""
}

var setUpSecret = regexp.MustCompile(`/setup\?link=([0-9a-f]{64})`)

func TestTheSessionsCookieIsBoundToTheHostOnHTTPS(t *testing.T) {
	t.Parallel()
	for public, c := range map[string]struct{ name, secure string }{
		"":                            {"countersign", ""},
		"https://countersign.example": {"__Host-countersign", "Secure"},
	} {
		s := harness.Start(t, func(settings map[string]string) {
			delete(settings, "SVC_PLATFORM_BOOTSTRAP_TOKEN")
			if public != "" {
				settings["SVC_PLATFORM_PUBLIC_URL"] = public
			}
		})
		s.Admin = s.As(printed.FindString(s.Log()))
		link := setUpSecret.FindStringSubmatch(s.Log())[1]
		res, _ := exchange(t, s, "POST", "/setup", url.Values{"link": {link}, "email": {"ada@example.com"}})
		cookie := cookieOf(res, c.name)
		value, flags, _ := strings.Cut(cookie, ";")
		for _, flag := range []string{"Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=604800", c.secure} {
			if !strings.Contains(flags, flag) {
				t.Errorf("%q: %q has no %s", public, flags, flag)
			}
		}
		if c.secure == "" && strings.Contains(flags, "Secure") || strings.Contains(flags, "Domain") {
			t.Errorf("%q: %q", public, flags)
		}
		if hsts := res.Header.Get("Strict-Transport-Security"); (hsts != "") != (c.secure != "") {
			t.Errorf("%q: HSTS %q", public, hsts)
		}
		if res, _ := exchange(t, s, "GET", "/settings", nil, "Cookie", value); res.StatusCode != 200 {
			t.Errorf("%q: the cookie gives %d", public, res.StatusCode)
		}
		wrong := strings.Replace(value, c.name, map[string]string{"": "__Host-countersign", "Secure": "countersign"}[c.secure], 1)
		if res, _ := exchange(t, s, "GET", "/settings", nil, "Cookie", wrong); res.StatusCode != 303 {
			t.Errorf("%q: under the other name it gives %d", public, res.StatusCode)
		}
	}
}

func TestASignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	for _, next := range []string{"//evil.example/x", "https://evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "javascript:alert(1)", "evil.example"} {
		res, _ := exchange(t, w.Server, "POST", "/sign-in", url.Values{"email": {"eve@example.com"}, "next": {next}})
		if res.StatusCode == 429 {
			break // the limit of this network address is reached
		}
		to, err := url.Parse(res.Header.Get("Location"))
		if err != nil || to.Query().Get("next") != "/" || !strings.HasPrefix(to.String(), "/console/sign-in/code") {
			t.Errorf("%q leads to %s", next, res.Header.Get("Location"))
		}
	}
}

func TestCodesComeByMail(t *testing.T) {
	t.Parallel()
	office := mailtest.Open(t, false)
	w := newWorld(t, harness.Set("SMTP_URL", "smtp://"+office.Address()+"?from=countersign@example.com"))
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada := w.NewBrowser()
	if p := ada.Open("/sign-in"); !strings.Contains(p.Text, "A code comes by mail.") {
		t.Error("the page says nothing of mail")
	}
	ada.Submit("/sign-in", url.Values{"email": {"eve@example.com"}})
	ada.Submit("/sign-in", url.Values{"email": {"ada@example.com"}})
	harness.Until(t, "the mail", func() bool { return len(office.Received()) > 0 })
	mails := office.Received()
	code := regexp.MustCompile(`\b\d{8}\b`).FindString(mails[0][max(0, strings.Index(mails[0], "\r\n\r\n")):])
	w.Keep(code)
	if p := ada.Submit("/sign-in/code", url.Values{"email": {"ada@example.com"}, "code": {code}}); ada.Session() == "" {
		t.Errorf("%d with the code %q of\n%s", p.Status, code, mails[0])
	}
	if len(mails) != 1 || !strings.Contains(mails[0], "To: <ada@example.com>") {
		t.Errorf("%d mails", len(mails))
	}
}

func TestApproversAreToldByMail(t *testing.T) {
	t.Parallel()
	office := mailtest.Open(t, false)
	w := newWorld(t, harness.Set("SMTP_URL", "smtp://"+office.Address()+"?from=countersign@example.com"))
	w.Admin.Put("/users/ben@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	plan := w.operator.Post("/plans", planOf(step("r", "refund", doc{"orderId": "secret-order"}))).OK(t).At("id").Text()
	run := w.operator.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text()
	harness.Until(t, "the mail", func() bool { return len(office.Received()) > 0 })
	text := office.Received()[0]
	approval := w.approver.Get("/approvals?runId=" + run).OK(t).At("items").Items()[0].At("id").Text()
	if !strings.Contains(text, "To: <ben@example.com>") || !strings.Contains(text, "/console/approvals/"+approval) || strings.Contains(text, "secret-order") {
		t.Errorf("%s", text)
	}
}

// elsewhere is a server whose users may also sign in at an issuer.
func elsewhere(t *testing.T) (*oidctest.Issuer, *world) {
	t.Helper()
	issuer := oidctest.New(t)
	w := newWorld(t, harness.Set("OIDC_ISSUER", issuer.URL), harness.Set("OIDC_CLIENT_ID", oidctest.ClientID),
		harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", oidctest.ClientSecret))
	w.Keep(oidctest.ClientSecret)
	return issuer, w
}

var goOn = regexp.MustCompile(`href="([^"]+/authorize[^"]+)"`)

// atIssuer begins a sign-in and returns the address, below /console, to which the issuer redirects back.
func atIssuer(t *testing.T, w *world, b *harness.Browser, next string) string {
	t.Helper()
	p := b.Submit("/oidc", url.Values{"next": {next}})
	found := goOn.FindStringSubmatch(p.Text)
	if p.Status != 200 || found == nil {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(html.UnescapeString(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	path, ok := strings.CutPrefix(res.Header.Get("Location"), w.URL+"/console")
	if !ok {
		t.Fatalf("the issuer sends to %s", res.Header.Get("Location"))
	}
	return path
}

func TestSigningInAtAnIdentityProvider(t *testing.T) {
	t.Parallel()
	issuer, w := elsewhere(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	ada, eve := w.NewBrowser(), w.NewBrowser()
	if p := ada.Open("/sign-in"); !strings.Contains(p.Text, "Sign in with 127.0.0.1") {
		t.Error("there is no button")
	}
	back := atIssuer(t, w, ada, "/settings")
	if p := eve.Open(back); p.Status != 401 || eve.Session() != "" {
		t.Errorf("another browser came back with it: %d", p.Status)
	}
	if p := ada.Open(back); p.Status != 200 || p.URL.Path != "/console/settings" || ada.Session() == "" {
		t.Errorf("%d at %s: %.500s", p.Status, p.URL, p.Text)
	}
	w.Keep(ada.Session())
	w.As("").Get("/session", ada.Cookie()).OK(t).Is(t, "email", "ada@example.com")
	if p := ada.Open(back); p.Status != 401 {
		t.Errorf("the same link again: %d", p.Status)
	}
	back = atIssuer(t, w, eve, "https://evil.example")
	issuer.Claims = map[string]any{"email_verified": false}
	if p := eve.Open(back); p.Status != 401 || eve.Session() != "" || !strings.Contains(p.Text, "not verified") {
		t.Errorf("an unverified address: %d", p.Status)
	}
	back = atIssuer(t, w, eve, "//evil.example")
	issuer.Claims = map[string]any{"email": "eve@example.com"}
	if p := eve.Open(back); p.Status != 403 || eve.Session() != "" || !strings.Contains(p.Text, "eve@example.com is not a user here.") {
		t.Errorf("somebody who is no user: %d", p.Status)
	}
	if p := eve.Open("/oidc/callback?error=access_denied&error_description=Call+this+number"); p.Status != 401 || strings.Contains(p.Text, "number") {
		t.Errorf("refused there: %d", p.Status)
	}
}

func TestAnIssuerThatIsDownStopsNothingElse(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Set("OIDC_ISSUER", "http://127.0.0.1:1"), harness.Set("OIDC_CLIENT_ID", "c"),
		harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", "issuer-secret-value"))
	if p := s.NewBrowser().Submit("/oidc", nil); p.Status != 502 || !strings.Contains(p.Text, "127.0.0.1:1 can&#39;t be reached now.") {
		t.Errorf("%d %s", p.Status, p.Text)
	}
	s.Admin.Get("/users").OK(t)
}

func TestSettingsOfIdentityAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"no scheme":          {[]string{"SVC_PLATFORM_SMTP_URL", "mail.example.com"}, "SVC_PLATFORM_SMTP_URL: it is no address"},
		"a broken password":  {[]string{"SVC_PLATFORM_SMTP_URL", "smtp://ada:hidden%zz@mail.example.com"}, "SVC_PLATFORM_SMTP_URL: it is no address"},
		"nobody to be from":  {[]string{"SVC_PLATFORM_SMTP_URL", "smtp://ada:hidden@mail.example.com"}, "?from="},
		"an issuer alone":    {[]string{"SVC_PLATFORM_OIDC_ISSUER", "https://accounts.example.com"}, "go together"},
		"a secret not there": {issuerSettings("https://accounts.example.com", ""), "SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV"},
		"an issuer on http":  {issuerSettings("http://accounts.example.com", "hidden"), "SVC_PLATFORM_OIDC_ISSUER"},
		"an issuer's user":   {issuerSettings("https://ada:hidden@accounts.example.com", "hidden"), "SVC_PLATFORM_OIDC_ISSUER"},
	} {
		r := harness.Run(t, settings(t, c.env...), "serve")
		if r.Status != 2 || len(r.Lines()) != 1 || !strings.Contains(r.Err, c.says) || strings.Contains(r.Err, "hidden") {
			t.Errorf("%s: %d %s", name, r.Status, r.Err)
		}
	}
}

func issuerSettings(issuer, secret string) []string {
	return []string{"SVC_PLATFORM_OIDC_ISSUER", issuer, "SVC_PLATFORM_OIDC_CLIENT_ID", "c", "SVC_PLATFORM_OIDC_CLIENT_SECRET_ENV", "THE_SECRET", "THE_SECRET", secret}
}
