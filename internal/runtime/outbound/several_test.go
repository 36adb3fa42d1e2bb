package outbound

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

func several(list ...countersign.Auth) *countersign.Auths { return &countersign.Auths{Several: list} }

// TestEachWayToAuthenticateIsSent: in the project's order, the signature of the same
// bytes as without the others.
func TestEachWayToAuthenticateIsSent(t *testing.T) {
	t.Parallel()
	one := setup(t)
	alone := one.raw(t, one.call(t, "POST"))
	b := setup(t)
	alone = strings.Replace(alone, one.receiver.URL()[len("http://"):], b.receiver.URL()[len("http://"):], 1)
	b.env[keyEnv] = "another-canary-7f3K"
	b.project.Auth = several(
		countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "X-Key"},
		countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: signingEnv},
		countersign.Auth{Type: countersign.AuthBasic, CredentialEnv: keyEnv, User: "shop"},
	)
	signature := "X-Runtime-Signature:"
	_, signed, _ := strings.Cut(alone, signature)
	want := strings.Replace(alone, signature, "X-Key: another-canary-7f3K\r\n"+signature, 1)
	line, _, _ := strings.Cut(signed, "\r\n")
	want = strings.Replace(want, line+"\r\n", line+"\r\nAuthorization: Basic "+base64.StdEncoding.EncodeToString([]byte("shop:another-canary-7f3K"))+"\r\n", 1)
	if got := b.raw(t, b.call(t, "POST")); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// TestNothingIsSentWithoutEachCredential: unset, not listed or another tenant's.
func TestNothingIsSentWithoutEachCredential(t *testing.T) {
	t.Parallel()
	two := several(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: signingEnv}, countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "X-Key"})
	for want, spoil := range map[string]func(*bundle, *request.Call){
		keyEnv + " is not set":                    func(b *bundle, _ *request.Call) { b.env[keyEnv] = "" },
		signingEnv + " belongs to another tenant": func(_ *bundle, c *request.Call) { c.BoundTo[signingEnv] = "beta" },
		keyEnv + " belongs to another tenant":     func(_ *bundle, c *request.Call) { c.BoundTo[keyEnv] = "beta" },
		keyEnv + " belongs to no tenant":          func(_ *bundle, c *request.Call) { delete(c.BoundTo, keyEnv) },
		"HOME is not on the server's list for BASIC": func(b *bundle, _ *request.Call) {
			b.project.Auth.Several[1] = countersign.Auth{Type: countersign.AuthBasic, CredentialEnv: "HOME"}
		},
	} {
		b := setup(t)
		b.project.Auth = several(slices.Clone(two.Several)...)
		call := b.call(t, "POST")
		call.Tenant, call.BoundTo = "acme", map[string]string{signingEnv: "acme", keyEnv: "acme"}
		spoil(&b, &call)
		if o := b.client.Call(t.Context(), call); o.Certainty != request.NotSent || !strings.Contains(o.Cause, want) {
			t.Errorf("%s: %+v", want, o)
		}
		if sent := b.delivered(t); len(sent) != 0 {
			t.Errorf("%s: sent %v", want, sent)
		}
	}
}

// TestEverySecretIsMasked: of several, each; and what BASIC makes of the user and a short
// password, wherever and however the receiver repeats it.
func TestEverySecretIsMasked(t *testing.T) {
	t.Parallel()
	const key = "first-canary-81Zq"
	for _, password := range []string{"pass-6", "pass-word", "elevenbytes", "a-longer-password-of-many"} {
		pair := base64.StdEncoding.EncodeToString([]byte("shop:" + password))
		b := setup(t)
		b.env[signingEnv], b.env[keyEnv] = key, password
		b.project.Auth = several(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: signingEnv}, countersign.Auth{Type: countersign.AuthBasic, CredentialEnv: keyEnv, User: "shop"})
		for _, echo := range []string{
			"Basic " + pair, strings.TrimRight(pair, "="), "?auth=" + strings.ReplaceAll(pair, "=", "%3D"), "shop:" + password, key + password,
			base64.StdEncoding.EncodeToString([]byte("Authorization: Basic " + pair)), base64.URLEncoding.EncodeToString([]byte("curl -u shop:" + password + " https://")),
		} {
			body, err := json.Marshal(map[string]string{"you sent": echo})
			if err != nil {
				t.Fatal(err)
			}
			for _, status := range []int{200, 422} {
				b.receiver.Next(faultreceiver.Answering("mirror", faultreceiver.JSON(status, string(body))))
				o := b.client.Call(t.Context(), b.call(t, "POST"))
				got := o.Body.Raw() + o.Response.Body
				if !strings.Contains(got, masked) || strings.Contains(got, password) || strings.Contains(got, key) || strings.Contains(got, strings.TrimRight(pair, "=")) {
					t.Errorf("%d %s: kept %s", status, echo, got)
				}
			}
		}
	}
}

// TestSecretsThatOverlapAreMaskedWhole: what masking one of them leaves of the other
// would show.
func TestSecretsThatOverlapAreMaskedWhole(t *testing.T) {
	t.Parallel()
	m := maskerOf([]authentication{{countersign.Auth{Type: countersign.AuthAPIKey}, "abcdef"}, {countersign.Auth{Type: countersign.AuthBearer}, "efghij"}})
	if got := m.mask(`["abcdefghij","xabcdef efghij"]`); got != `["[credential]","x[credential] [credential]"]` {
		t.Error(got)
	}
	if got := maskerFor("aaaaaa").mask(`["aaaaaaaaa"]`); got != `["[credential]"]` {
		t.Error(got)
	}
}
