package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/outbound"
	"github.com/countersign/countersign/internal/tools/adapter/file"
)

// Auth says to an upstream who the adapter is.
type Auth struct {
	cfg     *file.Auth
	secrets Secrets
	memory  Memory
	client  *http.Client // of the token endpoint
	others  []string     // secrets besides that an upstream could repeat

	mu     sync.Mutex
	oauth  *clientcredentials.Config
	token  *oauth2.Token
	latest string // refresh token
}

// NewAuth makes what authenticates, by nothing where cfg is nil. others are the variables of
// secrets that are masked besides.
func NewAuth(cfg *file.Auth, secrets Secrets, memory Memory, client *http.Client, others ...string) *Auth {
	return &Auth{cfg: cfg, secrets: secrets, memory: memory, client: client, others: others}
}

// Certificate is the adapter's own where it authenticates by mutual TLS.
func Certificate(cfg *file.Auth) (*tls.Certificate, error) {
	if cfg == nil || cfg.Type != "mtls" {
		return nil, nil //nolint:nilnil // no certificate is no error
	}
	pair, err := tls.LoadX509KeyPair(cfg.CertFile, cfg.KeyFile)
	return &pair, err
}

// Header returns the header that authenticates, "" where none does. It is asked before a call
// is begun.
func (a *Auth) Header(ctx context.Context) (name, value string, err error) {
	if a.cfg == nil || a.cfg.Type == "mtls" {
		return "", "", nil
	}
	if a.cfg.Type == "oauth2" {
		token, err := a.access(ctx)
		return "Authorization", "Bearer " + token, err
	}
	secret, err := a.secrets.Of(a.cfg.CredentialEnv)
	if err != nil {
		return "", "", err
	}
	switch a.cfg.Type {
	case "bearer":
		name, value = "Authorization", cmp.Or(a.cfg.Scheme, "Bearer")+" "+secret
	case "header":
		name, value = a.cfg.Name, secret
	case "basic":
		name, value = "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(a.cfg.User+":"+secret))
	}
	for _, c := range value {
		if c < ' ' || c == 0x7f {
			return "", "", fmt.Errorf("the value of %s can't be sent in a header", a.cfg.CredentialEnv)
		}
	}
	return name, value, nil
}

// Refused drops a token that the upstream doesn't take: the next call gets another one.
func (a *Auth) Refused() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = nil
}

// Masker takes the secrets of an upstream out of what it says, those of the moment.
func (a *Auth) Masker() outbound.Masker {
	names := a.others
	var values []string
	if a.cfg != nil {
		names = append([]string{a.cfg.CredentialEnv, a.cfg.ClientSecretEnv, a.cfg.RefreshTokenEnv}, names...)
	}
	for _, name := range names {
		if v, err := a.secrets(name); name != "" && err == nil {
			values = append(values, v)
			if a.cfg != nil && a.cfg.Type == "basic" && name == a.cfg.CredentialEnv {
				values = append(values, a.cfg.User+":"+v, base64.StdEncoding.EncodeToString([]byte(a.cfg.User+":"+v)))
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != nil {
		values = append(values, a.token.AccessToken)
	}
	return outbound.NewMasker(append(values, a.latest)...)
}

// early is how long before its end a token isn't used any more.
const early = time.Minute

// access is a token that lives a while, fetched where there is none.
func (a *Auth) access(ctx context.Context) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token != nil && (a.token.Expiry.IsZero() || time.Until(a.token.Expiry) > early) {
		return a.token.AccessToken, nil
	}
	id, err := a.secrets.Of(a.cfg.ClientIDEnv)
	if err != nil {
		return "", err
	}
	secret, err := a.secrets.Of(a.cfg.ClientSecretEnv)
	if err != nil {
		return "", err
	}
	if a.oauth == nil || a.oauth.ClientID != id || a.oauth.ClientSecret != secret { // it remembers which form the endpoint takes
		a.oauth = &clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: a.cfg.TokenURL, Scopes: a.cfg.Scopes}
	}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, a.client), dialTimeout)
	defer cancel()
	token, err := a.fetch(ctx)
	if err != nil {
		return "", noToken(err)
	}
	a.token = token
	return token.AccessToken, nil
}

func (a *Auth) fetch(ctx context.Context) (*oauth2.Token, error) {
	if a.cfg.RefreshTokenEnv == "" {
		return a.oauth.Token(ctx)
	}
	given, err := a.secrets.Of(a.cfg.RefreshTokenEnv)
	if err != nil {
		return nil, err
	}
	name := "refresh token " + countersign.SHA256Hex([]byte(given)) // a new one that is given goes before what is kept
	if a.latest, err = a.memory.Recall(ctx, name); err != nil {
		return nil, err
	}
	a.latest = cmp.Or(a.latest, given)
	cfg := oauth2.Config{ClientID: a.oauth.ClientID, ClientSecret: a.oauth.ClientSecret, Scopes: a.cfg.Scopes, Endpoint: oauth2.Endpoint{TokenURL: a.cfg.TokenURL}}
	token, err := cfg.TokenSource(ctx, &oauth2.Token{RefreshToken: a.latest}).Token()
	if err == nil && token.RefreshToken != "" && token.RefreshToken != a.latest {
		a.latest = token.RefreshToken
		err = a.memory.Remember(ctx, name, a.latest)
	}
	return token, err
}

var errorCode = regexp.MustCompile(`^[a-z_]{1,60}$`)

// noToken says why there is no token, in words of ours: the endpoint's could repeat a secret.
func noToken(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused) || refused.Response == nil:
		return errors.New("no token: the token endpoint gave no answer that can be used")
	case errorCode.MatchString(refused.ErrorCode):
		return fmt.Errorf("no token: the token endpoint answered %d %s", refused.Response.StatusCode, refused.ErrorCode)
	default:
		return fmt.Errorf("no token: the token endpoint answered %d", refused.Response.StatusCode)
	}
}
