package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Version is the SDK's version (contract 8).
const Version = "0.3.0"

// The two path prefixes of the same API (specification 9). The SDK uses the alias by default.
const (
	PrefixAlias = "/api/runtime/v1"
	PrefixV1    = "/v1"
)

const (
	defaultTimeout = 90 * time.Second // a probe may take a minute, the longest timeout of a capability
	defaultRetries = 4
	maxAnswerBytes = 256 << 20 // more than a run of 100 steps with answers of 1 MiB
)

// Config has the service's address, the token and the behavior of a client. Only BaseURL is
// required.
type Config struct {
	BaseURL string // origin, with a path if a proxy serves the API below one
	Token   string // bearer token; never sent to another origin
	Prefix  string // default PrefixAlias

	HTTP    *http.Client  // for its transport; redirects are always refused
	Timeout time.Duration // of one exchange; default 90 s
	Retries int           // repetitions of safe requests; default 4, negative for none

	// AllowInsecure allows sending the token unencrypted: by http to another machine.
	AllowInsecure bool
	UserAgent     string
}

// Client is one principal at one service. It is safe for concurrent use.
type Client struct {
	base      string            // base URL with the prefix
	authorize func(http.Header) // adds the token
	http      *http.Client
	timeout   time.Duration
	retries   int
	agent     string
}

// New makes a client. It does not connect to the service.
func New(c Config) (*Client, error) {
	base, err := baseOf(c)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(c.Token, "\r\n") {
		return nil, errors.New("the token holds a line break")
	}
	out := &Client{base: base, authorize: bearer(c.Token), http: &http.Client{}, timeout: c.Timeout, retries: c.Retries, agent: c.UserAgent}
	if c.HTTP != nil {
		out.http.Transport = c.HTTP.Transport
	}
	out.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if out.timeout == 0 {
		out.timeout = defaultTimeout
	}
	if out.retries == 0 {
		out.retries = defaultRetries
	}
	if out.agent == "" {
		out.agent = "countersign-go/" + Version
	}
	return out, nil
}

func baseOf(c Config) (string, error) {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "", u.User != nil:
		return "", fmt.Errorf("%q is no address such as https://countersign.example.com", c.BaseURL)
	case u.Scheme == "http" && c.Token != "" && !c.AllowInsecure && !isLoopback(u.Hostname()):
		return "", fmt.Errorf("a token would travel readable to %s; use https, or set AllowInsecure", u.Host)
	}
	prefix := c.Prefix
	if prefix == "" {
		prefix = PrefixAlias
	}
	return strings.TrimRight(c.BaseURL, "/") + prefix, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bearer keeps the token in a function, so that printing the client can't show it.
func bearer(token string) func(http.Header) {
	return func(h http.Header) {
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
	}
}
