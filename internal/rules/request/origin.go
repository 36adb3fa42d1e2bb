package request

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// maxHostLength is that of a domain name.
const maxHostLength = 253

var errNoOrigin = errors.New("must be an HTTP or HTTPS origin such as https://api.example.com")

// NormalizeOrigin writes an HTTP(S) origin in the one form in which origins are
// compared (contract 5): lower-case scheme and host, no default port, IPv6
// literals in their shortest form, a lone trailing slash dropped. Anything with
// a path, query, fragment or user information is no origin.
//
// Hosts are ASCII (write international names in their xn-- form). A host that
// ends in a number must be a plain IPv4 address: resolvers read 127.1, 0x7f.1
// and 2130706433 as addresses that nobody listed. The error never repeats raw,
// which may hold a password.
func NormalizeOrigin(raw string) (string, error) {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errors.New("must be ASCII without spaces; write international names in their xn-- form")
	}
	if strings.ContainsAny(raw, `?#@\%`) {
		return "", errors.New("must be an origin only: no user, query, fragment, escape or IPv6 zone")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errNoOrigin
	}
	if u.Path != "" && u.Path != "/" {
		return "", errors.New("must be an origin only: no path")
	}
	host, err := normalizeHost(u.Hostname(), strings.HasPrefix(u.Host, "["))
	if err != nil {
		return "", err
	}
	port, err := normalizePort(u)
	return u.Scheme + "://" + host + port, err
}

func normalizeHost(host string, bracketed bool) (string, error) {
	if bracketed {
		ip, err := netip.ParseAddr(host)
		if err != nil || !ip.Is6() { // url.Parse takes nothing else
			return "", errNoOrigin
		}
		return "[" + ip.String() + "]", nil
	}
	host = strings.ToLower(host)
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || strings.ContainsFunc(label, notHostRune) {
			return "", errors.New("must name a host: letters, digits, hyphens and underscores between single dots")
		}
	}
	if len(host) > maxHostLength {
		return "", errors.New("has a host name of more than 253 characters")
	}
	if ip, err := netip.ParseAddr(host); isNumeric(labels[len(labels)-1]) && (err != nil || !ip.Is4()) {
		return "", errors.New("has a host that ends in a number but is no plain IPv4 address")
	}
	return host, nil
}

func notHostRune(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// isNumeric reports a last label that makes resolvers read the host as an IPv4
// address: digits, or 0x and hexadecimal digits.
func isNumeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// normalizePort is ":port", or nothing for the scheme's own.
func normalizePort(u *url.URL) (string, error) {
	if !strings.HasSuffix(u.Host, ":") && u.Port() == "" {
		return "", nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return "", errors.New("has a port that is not between 1 and 65535")
	}
	if u.Scheme == "http" && port == 80 || u.Scheme == "https" && port == 443 {
		return "", nil
	}
	return ":" + strconv.FormatUint(port, 10), nil
}

// IsLoopback reports a host name or address that is this machine by definition,
// without resolving it.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// maxAddress is the longest address that notifications go to.
const maxAddress = 2048

// SplitAddress divides an absolute address into its normalised origin and the target
// that goes into a request line, which is kept byte for byte. The error never repeats
// raw.
func SplitAddress(raw string) (origin, target string, err error) {
	switch {
	case len(raw) > maxAddress:
		return "", "", errors.New("must be at most 2048 characters")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }), strings.ContainsAny(raw, `#\`):
		return "", "", errors.New("must be ASCII without spaces, backslashes and fragment")
	}
	scheme, rest, _ := strings.Cut(raw, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest, target = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	origin, err = NormalizeOrigin(scheme + "://" + rest)
	return origin, target, err
}
