package outbound

import (
	"os"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/signature"
)

// credentials reads secrets from the environment, by the operator's lists. A
// secret is read for one call and kept by nothing.
type credentials struct {
	signing map[string]bool
	general map[string]bool
	getenv  func(string) string
}

func newCredentials(cfg Config) credentials {
	c := credentials{signing: names(cfg.SigningEnv), general: names(cfg.CredentialEnv), getenv: cfg.Getenv}
	if c.getenv == nil {
		c.getenv = os.Getenv
	}
	return c
}

// CredentialConfigured reports whether the authentication's credential can be
// used now: its variable is on the server's list, exists and isn't empty.
func (c *Client) CredentialConfigured(a countersign.Auth) bool {
	got, err := c.credentials.of(a)
	return err == nil && got.secret != ""
}

// credential is what one call authenticates with.
type credential struct {
	kind       string
	headerName string // API_KEY's
	secret     string
}

// of fetches the credential, or says why the call can't be made with it.
func (c credentials) of(a countersign.Auth) (credential, error) {
	if a.Type == countersign.AuthNone {
		return credential{kind: a.Type}, nil
	}
	allowed := c.general[a.CredentialEnv] || a.Type == countersign.AuthHMAC && c.signing[a.CredentialEnv]
	if !allowed {
		return credential{}, cause("credential variable " + a.CredentialEnv + " is not on the server's list for " + a.Type)
	}
	got := credential{kind: a.Type, headerName: a.HeaderName, secret: c.getenv(a.CredentialEnv)}
	switch {
	case got.secret == "":
		return credential{}, cause("credential variable " + a.CredentialEnv + " is not set")
	case a.Type == countersign.AuthHMAC: // never on the wire
	case a.Type != countersign.AuthBearer && a.Type != countersign.AuthAPIKey:
		return credential{}, cause("authentication type " + a.Type + " is not supported")
	case !isHeaderValue(got.secret):
		return credential{}, cause("the value of credential variable " + a.CredentialEnv + " can't be sent in a header: control characters or white space around it")
	case a.Type == countersign.AuthAPIKey && !carriesKey(a.HeaderName):
		return credential{}, cause("header " + a.HeaderName + " can't carry an API key")
	}
	return got, nil
}

// header is the one that authenticates; without a name there is none.
func (c credential) header(m *message, timestamp string) headerField {
	switch c.kind {
	case countersign.AuthHMAC:
		value, err := signature.Sign([]byte(c.secret), m.parts(timestamp))
		if err != nil { // message refused line breaks and empty secrets
			panic("outbound: " + err.Error())
		}
		return headerField{signature.HeaderSignature, value}
	case countersign.AuthBearer:
		return headerField{"Authorization", "Bearer " + c.secret}
	case countersign.AuthAPIKey:
		return headerField{c.headerName, c.secret}
	default:
		return headerField{}
	}
}

// isHeaderValue refuses what would end a header, or what a receiver would trim
// and then not recognise: a secret that was read from a file with its line feed.
func isHeaderValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s == strings.Trim(s, " ")
}

// carriesKey is the last gate behind the rules of registration: a key never
// replaces a header that frames the request, routes it or speaks for the runtime.
func carriesKey(name string) bool {
	lower := strings.ToLower(name)
	for _, prefix := range []string{"content-", "x-runtime-", "proxy-", "x-forwarded-"} {
		if strings.HasPrefix(lower, prefix) {
			return false
		}
	}
	switch lower {
	case "", "host", "cookie", "authorization", "idempotency-key", "accept", "user-agent", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect":
		return false
	}
	return strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}
