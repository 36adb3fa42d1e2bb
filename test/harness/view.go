package harness

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
)

// view lets a test in a tenant of its own name things as in the tenant `default`: the
// tenant itself, its projects (`default-shop`), and users (`ada@example.com`), whose
// addresses are one name space for all tenants. It changes those names in what the
// test sends and back in what it receives. A name is as long as the one that it
// stands for, so that no length and no order changes. A test that recomputes a
// digest or a signature of what it receives needs a server of its own.
type view struct {
	through      http.RoundTripper
	out          *strings.Replacer
	in           []naming
	clientNumber string
}

// naming is a name of the server's and what the test calls it.
type naming struct{ theirs, ours []byte }

const (
	homeTenant = "default"
	homeDomain = "example.com"
)

// tenantName is the id of the nth tenant: a word that is nowhere else in an answer.
func tenantName(n int) string { return "zq" + letters(n) }

// domainName is the domain of the addresses of a tenant's users.
func domainName(tenant string) string { return "y" + strings.TrimPrefix(tenant, "z") + ".com" }

// letters are five that stand for a number.
func letters(n int) string {
	var out [5]byte
	for i := range out {
		out[len(out)-1-i] = byte('a' + n%26)
		n /= 26
	}
	return string(out[:])
}

// seenBy is an HTTP client of a house, for the test that has this tenant.
func (h *house) seenBy(tenant string) *http.Client {
	domain := domainName(tenant)
	upper := func(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
	c := *h.http
	c.Transport = &view{
		through: h.http.Transport,
		out: strings.NewReplacer(homeTenant+"-", tenant+"-", `"`+homeTenant+`"`, `"`+tenant+`"`,
			"@"+homeDomain, "@"+domain, "%40"+homeDomain, "%40"+domain,
			"@"+upper(homeDomain), "@"+upper(domain), "%40"+upper(homeDomain), "%40"+upper(domain)),
		in: []naming{
			{[]byte(tenant), []byte(homeTenant)}, {[]byte(domain), []byte(homeDomain)}, {[]byte(upper(domain)), []byte(upper(homeDomain))},
		},
		clientNumber: tenant,
	}
	return &c
}

// ForCommands is an address at which commands find the server as the test sees it.
func (s *Server) ForCommands() string {
	s.t.Helper()
	if s.house == nil {
		return s.URL
	}
	target, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Transport: s.http.Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	s.t.Cleanup(proxy.Close)
	return proxy.URL
}

// RoundTrip sends a request in the server's words and gives the answer in the test's.
func (v *view) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL.Path, sent.URL.RawPath, sent.URL.RawQuery = v.out.Replace(r.URL.Path), v.out.Replace(r.URL.RawPath), v.out.Replace(r.URL.RawQuery)
	if r.Header.Get("X-Forwarded-For") == "" {
		sent.Header.Set("X-Forwarded-For", v.address())
	}
	if r.Body != nil && r.Body != http.NoBody {
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		sent.Body = io.NopCloser(strings.NewReader(v.out.Replace(string(text))))
	}
	res, err := v.through.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if to := res.Header.Get("Location"); to != "" {
		res.Header.Set("Location", string(v.toOurs([]byte(to))))
	}
	res.Request = r
	res.Body = &reading{Reader: &renamed{from: res.Body, view: v}, Closer: res.Body}
	return res, nil
}

// address is one that no other test asks from: limits count by address.
func (v *view) address() string {
	n := 0
	for _, c := range v.clientNumber[2:] {
		n = n*26 + int(c-'a')
	}
	return fmt.Sprintf("10.0.%d.%d", n/250, n%250+1)
}

// toOurs replaces names in place.
func (v *view) toOurs(text []byte) []byte {
	for _, n := range v.in {
		for rest := text; ; {
			i := bytes.Index(rest, n.theirs)
			if i < 0 {
				break
			}
			rest = rest[i+copy(rest[i:], n.ours):]
		}
	}
	return text
}

// begun is how many bytes at the end of text may be the beginning of a name.
func (v *view) begun(text []byte) int {
	most := 0
	for _, n := range v.in {
		for size := min(len(text), len(n.theirs)-1); size > most; size-- {
			if bytes.HasSuffix(text, n.theirs[:size]) {
				most = size
			}
		}
	}
	return most
}

type reading struct {
	io.Reader
	io.Closer
}

// renamed reads an answer as it comes, since it may be a stream of events, with its
// names replaced.
type renamed struct {
	from  io.Reader
	view  *view
	ready []byte // replaced, and not yet read
	held  []byte // read, and may be the beginning of a name
	err   error
}

func (r *renamed) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil {
		r.fill()
	}
	if len(r.ready) == 0 {
		return 0, r.err
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

func (r *renamed) fill() {
	chunk := make([]byte, 8<<10)
	n, err := r.from.Read(chunk)
	text := append(r.held, chunk[:n]...)
	keep := 0
	if r.err = err; err == nil {
		keep = r.view.begun(text)
	}
	r.held = bytes.Clone(text[len(text)-keep:])
	r.ready = r.view.toOurs(text[:len(text)-keep])
}
