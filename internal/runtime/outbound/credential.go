package outbound

import (
	"encoding/base64"
	"errors"
	"os"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
)

// credentials reads secrets from the environment, for whoever may use them. A
// secret is read for one call and kept by nothing.
type credentials struct {
	mayUse func(u credential.Use, boundTo string) error
	getenv func(string) string
}

func newCredentials(cfg Config) credentials {
	c := credentials{mayUse: cfg.MayUse, getenv: cfg.Getenv}
	if c.getenv == nil {
		c.getenv = os.Getenv
	}
	return c
}

// authentication is what one call authenticates with.
type authentication struct {
	kind       string
	headerName string // API_KEY's
	user       string // BASIC's
	value      string
}

// of fetches the secret for a call to an origin, or says why the call can't be made
// with it.
func (c credentials) of(call request.Call, origin string) (authentication, error) {
	a := call.Project.EffectiveAuth()
	if a.Type == countersign.AuthNone {
		return authentication{kind: a.Type}, nil
	}
	if err := c.allowed(credential.Use{Tenant: call.Tenant, Origin: origin, Kind: a.Type, Name: a.CredentialEnv}, call.BoundTo); err != nil {
		return authentication{}, err
	}
	got := authentication{kind: a.Type, headerName: a.HeaderName, user: a.User, value: c.getenv(a.CredentialEnv)}
	switch {
	case got.value == "":
		return authentication{}, cause("credential variable " + a.CredentialEnv + " is not set")
	case a.Type == countersign.AuthHMAC: // never on the wire
	case a.Type != countersign.AuthBearer && a.Type != countersign.AuthAPIKey && a.Type != countersign.AuthBasic:
		return authentication{}, cause("authentication type " + a.Type + " is not supported")
	case !isHeaderValue(got.value):
		return authentication{}, cause("the value of credential variable " + a.CredentialEnv + " can't be sent in a header: control characters or white space around it")
	case a.Type == countersign.AuthAPIKey && !carriesKey(a.HeaderName):
		return authentication{}, cause("header " + a.HeaderName + " can't carry an API key")
	}
	return got, nil
}

func (c credentials) allowed(u credential.Use, boundTo string) error {
	err := c.mayUse(u, boundTo)
	switch {
	case errors.Is(err, credential.ErrNotListed):
		return cause("credential variable " + u.Name + " " + err.Error() + " for " + u.Kind)
	case err != nil:
		return cause("credential variable " + u.Name + " " + err.Error())
	}
	return nil
}

// header is the one that authenticates; without a name there is none.
func (c authentication) header(m *message, timestamp string) headerField {
	switch c.kind {
	case countersign.AuthHMAC:
		value, err := signature.Sign([]byte(c.value), m.parts(timestamp))
		if err != nil { // message refused line breaks and empty secrets
			panic("outbound: " + err.Error())
		}
		return headerField{signature.HeaderSignature, value}
	case countersign.AuthBearer:
		return headerField{"Authorization", "Bearer " + c.value}
	case countersign.AuthAPIKey:
		return headerField{c.headerName, c.value}
	case countersign.AuthBasic:
		return headerField{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(c.user+":"+c.value))}
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
