package web

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestWhoAsksIsWhomTrustedProxiesNameLast(t *testing.T) {
	const proxy, inner, stranger = "10.0.0.1:99", "10.0.0.2", "203.0.113.7"
	for name, c := range map[string]struct {
		remote  string
		headers []string
		want    string
	}{
		"nobody between":                       {stranger + ":99", nil, stranger},
		"a stranger's header":                  {stranger + ":99", []string{"198.51.100.1"}, stranger},
		"a proxy":                              {proxy, []string{stranger}, stranger},
		"a proxy, and what the stranger wrote": {proxy, []string{"198.51.100.1, " + stranger}, stranger},
		"two proxies":                          {proxy, []string{stranger + ", " + inner}, stranger},
		"two headers":                          {proxy, []string{"198.51.100.1", stranger}, stranger},
		"a proxy that says nothing":            {proxy, nil, "10.0.0.1"},
		"a proxy that says nonsense":           {proxy, []string{"unknown"}, "10.0.0.1"},
		"nonsense before a proxy":              {proxy, []string{"x, " + inner}, inner},
		"only proxies":                         {proxy, []string{inner + ", " + inner}, inner},
		"an IPv6 stranger":                     {proxy, []string{"2001:db8::1"}, "2001:db8::1"},
		"a proxy written as IPv6":              {"[::ffff:10.0.0.1]:99", []string{stranger}, stranger},
		"a gateway that adds the port":         {proxy, []string{stranger + ":4711"}, stranger},
		"a gateway that adds IPv6's port":      {proxy, []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		"a gateway that writes brackets":       {proxy, []string{"[2001:db8::1]"}, "2001:db8::1"},
		"a proxy with a port":                  {proxy, []string{stranger + ", " + inner + ":80"}, stranger},
		"a port that is none":                  {proxy, []string{stranger + ":x"}, "10.0.0.1"},
		"half a bracket":                       {proxy, []string{"[2001:db8::1"}, "10.0.0.1"},
		"a local socket":                       {"@", []string{stranger}, "@"},
	} {
		r := httptest.NewRequest("POST", "/console/sign-in", nil)
		r.RemoteAddr = c.remote
		for _, h := range c.headers {
			r.Header.Add("X-Forwarded-For", h)
		}
		v := &Request{Site: &Site{Config: Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}, R: r}
		if got := v.From(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNextLeadsNowhereElse(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/runs/run-1": "/runs/run-1", "/runs?offset=50": "/runs?offset=50", "": "/",
		"//evil.example": "/", "https://evil.example": "/", "/\\evil.example": "/", "\\/evil.example": "/", "javascript:alert(1)": "/",
		"runs": "/", "/\n/evil.example": "/", "/\t/evil.example": "/", "///evil.example": "/", "http:/evil.example": "/", "/%zz": "/",
		"/..//evil.example": "/", "/approvals/../../../v1/session": "/", "/..": "/", "/runs/..": "/", "/%2e%2e/v1/session": "/", "/.%2E/v1": "/",
		"/..%2fv1": "/", "/%5c..%5cevil.example": "/", "/runs//x": "/", "/./runs": "/", "/%0a/x": "/", "/runs/": "/runs/", "/runs?from=/../x": "/runs?from=/../x",
	} {
		if got := Local(next); got != want {
			t.Errorf("%q: %q", next, got)
		}
	}
}
