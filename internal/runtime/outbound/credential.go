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

// authentication is one way in which a call authenticates, with its secret.
type authentication struct {
	countersign.Auth
	value string
}

// of fetches the secrets for a call to an origin, or says why the call can't be made
// with them.
func (c credentials) of(call request.Call, origin string) (all []authentication, err error) {
	for _, a := range call.Project.EffectiveAuths() {
		u := credential.Use{Tenant: call.Tenant, Origin: origin, Kind: a.Type, Name: a.CredentialEnv}
		if err := c.allowed(u, call.BoundTo[a.CredentialEnv]); err != nil {
			return nil, err
		}
		got := authentication{a, c.getenv(a.CredentialEnv)}
		if err := got.usable(); err != nil {
			return nil, err
		}
		all = append(all, got)
	}
	return all, nil
}

func (a authentication) usable() error {
	switch {
	case a.value == "":
		return cause("credential variable " + a.CredentialEnv + " is not set")
	case a.Type == countersign.AuthHMAC: // never on the wire
	case a.Type != countersign.AuthBearer && a.Type != countersign.AuthAPIKey && a.Type != countersign.AuthBasic:
		return cause("authentication type " + a.Type + " is not supported")
	case !isHeaderValue(a.value):
		return cause("the value of credential variable " + a.CredentialEnv + " can't be sent in a header: control characters or white space around it")
	case a.Type == countersign.AuthAPIKey && !carriesKey(a.HeaderName):
		return cause("header " + a.HeaderName + " can't carry an API key")
	}
	return nil
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

// header is the one that authenticates.
func (a authentication) header(m *message, timestamp string) headerField {
	f := headerField{name: request.AuthHeader(a.Auth), value: a.value}
	switch a.Type {
	case countersign.AuthHMAC:
		value, err := signature.Sign([]byte(a.value), m.parts(timestamp))
		if err != nil { // message refused line breaks and empty secrets
			panic("outbound: " + err.Error())
		}
		f.value = value
	case countersign.AuthBearer:
		f.value = "Bearer " + a.value
	case countersign.AuthBasic:
		f.value = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.pair()))
	}
	return f
}

// pair is what BASIC sends.
func (a authentication) pair() string { return a.User + ":" + a.value }

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
	case "", "host", "cookie", "authorization", "idempotency-key", "accept", "accept-encoding", "user-agent", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect":
		return false
	}
	return strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}
