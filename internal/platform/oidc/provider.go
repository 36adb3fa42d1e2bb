// Package oidc lets people sign in at an OpenID Connect provider by the authorization code
// flow with state, nonce and PKCE. It returns a person's verified e-mail address and knows
// nothing of users.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Config has the settings of the provider.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	RedirectURL  string // our URL to which the provider redirects after the sign-in
	Now          func() time.Time
	Client       *http.Client // nil: a client with default bounds
}

// timeout bounds each request to the provider, which may be down.
const timeout = 10 * time.Second

// FlowLife is how long a person may take to sign in at the provider.
const FlowLife = 10 * time.Minute

// Provider is the provider of the settings. Its description is fetched at the first
// sign-in, so that an unreachable provider prevents only signing in there.
type Provider struct {
	cfg    Config
	client *http.Client

	asking singleflight.Group

	mu    sync.Mutex
	found *oidc.Provider
	used  map[string]time.Time // used states, kept until they expire
}

// New makes a provider. It connects to nothing.
func New(cfg Config) *Provider {
	client := cfg.Client
	if client == nil {
		client = &http.Client{Timeout: timeout, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
			ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		}}
	}
	return &Provider{cfg: cfg, client: withBounds(client), used: map[string]time.Time{}}
}

// withBounds returns client with bounded answers.
func withBounds(client *http.Client) *http.Client {
	out := *client
	if out.Transport == nil {
		out.Transport = http.DefaultTransport
	}
	out.Transport = bounded{out.Transport}
	return &out
}

// Host is the provider's host name, as it is shown to people.
func (p *Provider) Host() string {
	u, err := url.Parse(p.cfg.Issuer)
	if err != nil {
		return p.cfg.Issuer
	}
	return u.Host
}

// Reach fetches the provider's description, to check that the provider is reachable.
func (p *Provider) Reach(ctx context.Context) error {
	_, err := p.discovered(ctx)
	return err
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, RedirectURL: p.cfg.RedirectURL,
		Endpoint: found.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// Begin returns the address to redirect a person to, and the flow that their browser must
// send back.
func (p *Provider) Begin(ctx context.Context) (address, flow string, err error) {
	found, err := p.discovered(ctx)
	if err != nil {
		return "", "", err
	}
	f := newFlow(p.cfg.Now())
	return p.oauth(found).AuthCodeURL(f.state, oidc.Nonce(f.nonce), oauth2.S256ChallengeOption(f.verifier)), f.String(), nil
}

// ErrFlow is the error for a flow that is invalid, was begun in another browser, is too old
// or was already used.
var ErrFlow = errors.New("oidc: this sign-in was not begun in this browser, was used, or took too long")

// ErrUnverified is the error for a person without a verified e-mail address.
var ErrUnverified = errors.New("oidc: the provider has not verified an e-mail address")

// Finish ends a flow with the state and the code that the provider sent back. It returns the
// verified e-mail address, and the ID token's claims that are strings or lists of strings.
func (p *Provider) Finish(ctx context.Context, flow, state, code string) (email string, claims map[string][]string, err error) {
	f, ok := parseFlow(flow)
	if !ok || code == "" || !same(f.state, state) || f.expired(p.cfg.Now()) || p.wasUsed(f.state) {
		return "", nil, ErrFlow
	}
	found, err := p.discovered(ctx)
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.client), timeout)
	defer cancel()
	token, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return "", nil, fmt.Errorf("the provider gave no token: %w", withoutBody(err))
	}
	email, claims, err = p.identityOf(ctx, found, token, f)
	if err != nil {
		return "", nil, err
	}
	if !p.use(f.state) {
		return "", nil, ErrFlow
	}
	return email, claims, nil
}

// withoutBody reduces the provider's refusal to its status and error code: the rest is
// untrusted text.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return fmt.Errorf("status %d, %.100q", refused.Response.StatusCode, refused.ErrorCode)
	}
	return err
}

func (p *Provider) wasUsed(state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, used := p.used[state]
	return used
}

// use marks a state as used; it returns false if the state was used before.
func (p *Provider) use(state string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	for old, at := range p.used {
		if now.Sub(at) > FlowLife {
			delete(p.used, old)
		}
	}
	_, used := p.used[state]
	p.used[state] = now
	return !used
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// flow is a sign-in that has begun. The browser that began it keeps it in an HttpOnly
// cookie.
type flow struct {
	state, nonce, verifier string
	began                  time.Time
}

func newFlow(now time.Time) flow {
	return flow{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(), began: now}
}

const separator = "."

func (f flow) String() string {
	return strings.Join([]string{f.state, f.nonce, f.verifier, f.began.UTC().Format("20060102T150405Z")}, separator)
}

func parseFlow(text string) (f flow, ok bool) {
	parts := strings.Split(text, separator)
	if len(parts) != 4 {
		return f, false
	}
	began, err := time.Parse("20060102T150405Z", parts[3])
	f = flow{state: parts[0], nonce: parts[1], verifier: parts[2], began: began}
	return f, err == nil && f.state != "" && f.nonce != "" && f.verifier != ""
}

func (f flow) expired(now time.Time) bool { return now.Sub(f.began) >= FlowLife }
