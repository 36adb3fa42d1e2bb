package harness

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
)

// tenantNames lets a test with its own tenant use the names of the tenant `default`: the tenant itself,
// its projects (`default-shop`), and users (`ada@example.com`), since e-mail addresses are shared by all
// tenants. It replaces those names in what the test sends, and back in what it receives. A replacement
// has the same length, so that lengths and orders don't change. A test that recomputes a digest or a
// signature of what it receives needs its own server.
type tenantNames struct {
	to     http.RoundTripper
	out    *strings.Replacer
	in     []namePair
	tenant string
}

// namePair is a name at the server and its name in the test.
type namePair struct{ ofServer, ofTest []byte }

const (
	defaultTenant = "default"
	exampleDomain = "example.com"
)

// tenantName is the id of the nth tenant: a word that occurs nowhere else in an answer.
func tenantName(n int) string { return "zq" + letters(n) }

// domainName is the domain of the e-mail addresses of a tenant's users.
func domainName(tenant string) string { return "y" + strings.TrimPrefix(tenant, "z") + ".com" }

// letters encodes a number in five letters.
func letters(n int) string {
	var out [5]byte
	for i := range out {
		out[len(out)-1-i] = byte('a' + n%26)
		n /= 26
	}
	return string(out[:])
}

// clientFor is an HTTP client of a shared server for the test with this tenant.
func (s *sharedServer) clientFor(tenant string) *http.Client {
	domain := domainName(tenant)
	upper := func(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
	c := *s.http
	c.Transport = &tenantNames{
		to: s.http.Transport,
		out: strings.NewReplacer(defaultTenant+"-", tenant+"-", `"`+defaultTenant+`"`, `"`+tenant+`"`,
			"@"+exampleDomain, "@"+domain, "%40"+exampleDomain, "%40"+domain,
			"@"+upper(exampleDomain), "@"+upper(domain), "%40"+upper(exampleDomain), "%40"+upper(domain)),
		in: []namePair{
			{[]byte(tenant), []byte(defaultTenant)}, {[]byte(domain), []byte(exampleDomain)}, {[]byte(upper(domain)), []byte(upper(exampleDomain))},
		},
		tenant: tenant,
	}
	return &c
}

// ForCommands is an address at which commands see the server with the test's names.
func (s *Server) ForCommands() string {
	s.t.Helper()
	if s.sharedServer == nil {
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

// RoundTrip sends a request with the server's names and returns the answer with the test's names.
func (n *tenantNames) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL.Path, sent.URL.RawPath, sent.URL.RawQuery = n.out.Replace(r.URL.Path), n.out.Replace(r.URL.RawPath), n.out.Replace(r.URL.RawQuery)
	if r.Header.Get("X-Forwarded-For") == "" {
		sent.Header.Set("X-Forwarded-For", n.address())
	}
	if r.Body != nil && r.Body != http.NoBody {
		text, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		sent.Body = io.NopCloser(strings.NewReader(n.out.Replace(string(text))))
	}
	res, err := n.to.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if to := res.Header.Get("Location"); to != "" {
		res.Header.Set("Location", string(n.backToTest([]byte(to))))
	}
	res.Request = r
	res.Body = &reading{Reader: &renamed{from: res.Body, names: n}, Closer: res.Body}
	return res, nil
}

// address is a client address that no other test uses, since limits count by address.
func (n *tenantNames) address() string {
	number := 0
	for _, c := range n.tenant[2:] {
		number = number*26 + int(c-'a')
	}
	return fmt.Sprintf("10.0.%d.%d", number/250, number%250+1)
}

// backToTest replaces the server's names by the test's, in place.
func (n *tenantNames) backToTest(text []byte) []byte {
	for _, pair := range n.in {
		for rest := text; ; {
			i := bytes.Index(rest, pair.ofServer)
			if i < 0 {
				break
			}
			rest = rest[i+copy(rest[i:], pair.ofTest):]
		}
	}
	return text
}

// begun is how many bytes at the end of text may be the beginning of a name.
func (n *tenantNames) begun(text []byte) int {
	most := 0
	for _, pair := range n.in {
		for size := min(len(text), len(pair.ofServer)-1); size > most; size-- {
			if bytes.HasSuffix(text, pair.ofServer[:size]) {
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

// renamed replaces the names in an answer while it is read, since it may be an event stream.
type renamed struct {
	from  io.Reader
	names *tenantNames
	ready []byte // replaced, not yet returned
	held  []byte // read, but may be the beginning of a name
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
	text := slices.Concat(r.held, chunk[:n])
	keep := 0
	if r.err = err; err == nil {
		keep = r.names.begun(text)
	}
	r.held = bytes.Clone(text[len(text)-keep:])
	r.ready = r.names.backToTest(text[:len(text)-keep])
}
