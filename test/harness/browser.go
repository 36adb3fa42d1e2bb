package harness

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
)

// Browser is a browser without rendering: it keeps cookies, sends forms as on the console's pages, and
// follows redirects.
type Browser struct {
	server *Server
	http   *http.Client
}

// Page is a page that a browser got.
type Page struct {
	Status int
	URL    *url.URL // after redirects
	Text   string
}

// NewBrowser opens a browser without cookies.
func (s *Server) NewBrowser() *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &Browser{server: s, http: &http.Client{Jar: jar, Timeout: s.http.Timeout, Transport: s.browserTransport()}}
}

// Open follows a link below /console.
func (b *Browser) Open(path string) *Page {
	b.server.t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.server.URL+"/console"+path, http.NoBody)
	if err != nil {
		b.server.t.Fatal(err)
	}
	return b.do(req)
}

// Submit sends a form to a path below /console.
func (b *Browser) Submit(path string, form url.Values) *Page {
	b.server.t.Helper()
	return b.Send(path, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// Send sends a form of any encoding, such as one with a file.
func (b *Browser) Send(path, kind string, body []byte) *Page {
	b.server.t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.server.URL+"/console"+path, bytes.NewReader(body))
	if err != nil {
		b.server.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", b.server.URL)
	return b.do(req)
}

func (b *Browser) do(req *http.Request) *Page {
	b.server.t.Helper()
	res, err := b.http.Do(req)
	if err != nil {
		b.server.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		b.server.t.Fatal(err)
	}
	if secret := b.server.leaked(string(text)); secret != "" {
		b.server.t.Errorf("the page %s holds the secret %s", req.URL.Path, secret)
	}
	return &Page{Status: res.StatusCode, URL: res.Request.URL, Text: string(text)}
}

// Session is the value of the session's cookie, "" when signed out.
func (b *Browser) Session() string {
	u, err := url.Parse(b.server.URL)
	if err != nil {
		b.server.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(u) {
		if c.Name == "countersign" {
			return c.Value
		}
	}
	return ""
}

// Cookie is the header that a script on the browser's pages would send.
func (b *Browser) Cookie() Header { return Header("Cookie: countersign=" + b.Session()) }

var signInCode = regexp.MustCompile(`sign-in code[^\n]*?email"?[:=]"?([^"\s]+?)"?[,\s]+"?code"?[:=]"?(\d{8})`)

// SignInCode waits for the sign-in code of an address in the log, beginning at an offset.
func (s *Server) SignInCode(email string, from int) string {
	s.t.Helper()
	code := ""
	Until(s.t, "the code in the log", func() bool {
		for _, found := range signInCode.FindAllStringSubmatch(s.log()[from:], -1) {
			if found[1] == s.address(email) {
				code = found[2]
			}
		}
		return code != ""
	})
	return code
}

// SignIn signs a user in with the code in the log.
func (b *Browser) SignIn(email string) *Page {
	b.server.t.Helper()
	before := len(b.server.log())
	b.Submit("/sign-in", url.Values{"email": {email}})
	return b.Submit("/sign-in/code", url.Values{"email": {email}, "code": {b.server.SignInCode(email, before)}})
}

// CloseIdle closes the connections that are not in use.
func (b *Browser) CloseIdle() { b.http.CloseIdleConnections() }

// browserTransport connects to the server; for a shared server it replaces the names of the test's
// tenant.
func (s *Server) browserTransport() http.RoundTripper {
	if s.sharedServer == nil {
		return nil
	}
	return s.http.Transport
}

// address is a user's e-mail address at the server.
func (s *Server) address(email string) string {
	if n, is := s.http.Transport.(*tenantNames); is {
		return n.out.Replace(email)
	}
	return email
}
