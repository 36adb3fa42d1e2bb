package outbound

import (
	"net"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/rules/request"
)

// origin is where calls of a project go.
type origin struct {
	text    string // normalised
	tls     bool
	name    string // host without brackets and port: what is resolved and verified
	host    string // the Host header
	address string // name and port, to dial
}

// parseOrigin reads a project's base URL. The error's text is safe to show.
func parseOrigin(baseURL string) (origin, error) {
	text, err := request.NormalizeOrigin(baseURL)
	if err != nil {
		return origin{}, cause("the base URL " + err.Error())
	}
	u, err := url.Parse(text)
	if err != nil {
		return origin{}, cause("the base URL is no origin")
	}
	o := origin{text: text, tls: u.Scheme == "https", name: u.Hostname(), host: u.Host}
	port := u.Port()
	switch {
	case port == "" && o.tls:
		port = "443"
	case port == "":
		port = "80"
	}
	o.address = net.JoinHostPort(o.name, port)
	return o, nil
}

// parseOrigins parses the operator's list, by the text that a normalised base URL has.
func parseOrigins(list []string) map[string]origin {
	all := map[string]origin{}
	for _, text := range list {
		if o, err := parseOrigin(text); err == nil && o.text == text {
			all[text] = o
		}
	}
	return all
}

// originOf is parseOrigin, for most projects without parsing.
func (c *Client) originOf(baseURL string) (origin, error) {
	if o, known := c.parsed[baseURL]; known {
		return o, nil
	}
	return parseOrigin(baseURL)
}

// target is the part of an absolute url that goes into the request line and into
// the signature: the same bytes that were approved, neither decoded nor encoded
// again. ok is false when the url is not of this origin or holds a byte that has
// no business in a request line.
func (o origin) target(absolute string) (target string, ok bool) {
	target, ok = strings.CutPrefix(absolute, o.text)
	if !ok || !strings.HasPrefix(target, "/") {
		return "", false
	}
	for i := 0; i < len(target); i++ {
		if c := target[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return "", false
		}
	}
	return target, true
}
