package issuer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/testing/issuertest"
)

// TestWhatTheLogSaysOfARefusedToken: the check, and why it failed.
func TestWhatTheLogSaysOfARefusedToken(t *testing.T) {
	t.Parallel()
	b := newBedOf(t, []issuer.Entry{{Tenant: "acme", Issuer: address, Claim: "org", Value: "1"}, {Tenant: "globex", Issuer: address, Claim: "org", Value: "2"}}, "ES256")
	k := b.keys["ES256"]
	header := func(name string, v any) map[string]any {
		h := k.Header()
		if h[name] = v; v == nil {
			delete(h, name)
		}
		return h
	}
	claims := func(name string, v any) map[string]any {
		return issuertest.Claims(address, resource, noon, map[string]any{"org": "1", name: v})
	}
	signed := func(h, c any) string { return k.Sign(t, h, c) }
	good := signed(k.Header(), claims("x", 1))
	parts := strings.Split(good, ".")
	other := issuertest.NewKey(t, "ES256", k.ID)
	for raw, want := range map[string]string{
		good + strings.Repeat("x", 8<<10):                        fmt.Sprintf("size: it has %d bytes; 8192 are the most", len(good)+8<<10),
		parts[0] + "." + parts[1]:                                "form: it has 2 parts; a signed token has three",
		"!." + parts[1] + ".":                                    "header: it is no base64url",
		"W10." + parts[1] + ".":                                  "header: it is no JSON object with each member once",
		parts[0] + "." + parts[1] + ".!":                         "signature: it is no base64url",
		signed(header("alg", "HS256"), claims("x", 1)):           `alg: "HS256"; taken are RS256, PS256, ES256, EdDSA`,
		signed(header("crit", []string{"x"}), claims("x", 1)):    "crit: a token with it is not taken",
		signed(header("typ", "id+jwt"), claims("x", 1)):          `typ: "id+jwt" is no access token; taken are JWT and at+jwt`,
		signed(header("kid", 1), claims("x", 1)):                 "kid: it is no text",
		signed(header("kid", "k2"), claims("x", 1)):              `kid: the issuer has no key "k2" for ES256`,
		signed(k.Header(), claims("iss", "https://a.example")):   `iss: "https://a.example" is not listed`,
		signed(k.Header(), claims("at_hash", "x")):               "at_hash: this is an ID token, which is for whoever signed somebody in, and no access token",
		signed(k.Header(), claims("exp", nil)):                   "exp: it has none",
		signed(k.Header(), claims("exp", "x")):                   "exp: it is no time as a number of seconds",
		signed(k.Header(), claims("exp", 1)):                     "exp: it ended at 1970-01-01T00:00:01Z",
		signed(k.Header(), claims("nbf", noon.Unix()+61)):        "nbf: it begins at 2026-11-28T12:01:01Z",
		signed(k.Header(), claims("iat", noon.Unix()+61)):        "iat: it is of 2026-11-28T12:01:01Z, which is still to come",
		signed(k.Header(), claims("iat", 0)):                     "exp: it is good for more than 24 hours",
		signed(k.Header(), life(claims("iat", nil), 48)):         "exp: it is good for more than 24 hours, from now, since it has no iat",
		signed(k.Header(), claims("aud", 1)):                     "aud: it is neither a text nor a list of texts",
		signed(k.Header(), claims("aud", "https://a.example")):   "aud: it has no " + resource,
		signed(k.Header(), claims("aud", resource+door)):         "aud: \"" + resource + door + "\" is good at that door alone",
		signed(k.Header(), claims("org", "3")):                   "tenant: its claims are those of no listed tenant",
		signed(k.Header(), claims("org", []string{"1", "2"})):    "tenant: its claims are those of 2 listed tenants",
		other.Sign(t, k.Header(), claims("x", 1)):                `signature: it is not by the key "key-ES256"`,
		other.Sign(t, header("kid", nil), claims("x", 1)):        "signature: it is by none of the issuer's keys for ES256",
		signed(k.Header(), life(claims("iat", noon.Unix()), 24)): "",
	} {
		_, err := b.set.Verify(t.Context(), raw, "")
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, lie := range map[string]func(*bed){
		`keys: it describes itself as "https://a.example"`:                     func(b *bed) { b.named = "https://a.example" },
		`keys: its jwks_uri "http://a.example/keys" is no https address`:       func(b *bed) { b.at = "http://a.example/keys" },
		"keys: none of its 2 keys can be used":                                 func(b *bed) { b.keys, b.more = nil, []map[string]any{{}, {"kty": "oct"}} },
		"keys: its keys: no answer":                                            func(b *bed) { b.failure = fmt.Errorf("no answer") },
		"keys: its description is no JSON object":                              func(b *bed) { b.raw = `[]` },
		"keys: its keys are no JSON object with a list of keys":                func(b *bed) { b.rawKeys = `{"keys":1}` },
		"keys: its description: nothing at " + address + "/.well-known/openid": func(b *bed) { b.gone = true },
	} {
		b := newBed(t, "ES256")
		k := b.keys["ES256"]
		b.do(func() { lie(b) })
		_, err := b.set.Verify(t.Context(), k.Sign(t, k.Header(), issuertest.Claims(address, resource, noon, nil)), "")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// life has a token end after so many hours.
func life(claims map[string]any, hours int) map[string]any {
	claims["exp"] = json.Number(fmt.Sprint(noon.Add(time.Duration(hours) * time.Hour).Unix()))
	return claims
}
