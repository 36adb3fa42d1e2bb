package outbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// raw makes one call and returns the bytes that reached the receiver.
func (b bundle) raw(t *testing.T, call request.Call) string {
	t.Helper()
	if o := b.client.Call(t.Context(), call); o.Certainty != request.Returned {
		t.Fatalf("got %+v", o)
	}
	b.delivered(t)
	return b.receiver.Raw()[0]
}

// TestTheBytesOnTheWire are these and no others.
func TestTheBytesOnTheWire(t *testing.T) {
	t.Parallel()
	bearer := countersign.OneAuth(countersign.Auth{Type: countersign.AuthBearer, CredentialEnv: keyEnv})
	key := countersign.OneAuth(countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "X-Shop-Key"})
	none := countersign.OneAuth(countersign.Auth{Type: countersign.AuthNone})
	runtime := "Idempotency-Key: run-1.refund\r\nX-Runtime-Run-Id: run-1\r\nX-Runtime-Step-Id: refund\r\nX-Runtime-Timestamp: 1767225600\r\n"
	tests := []struct {
		name, method string
		noBody       bool
		auth         *countersign.Auths
		want         string
	}{
		{"read without authentication", "GET", false, none, "GET /orders/A-1?note=a%20b HTTP/1.1\r\nHost: HOST\r\nUser-Agent: countersign\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n" + runtime + "\r\n"},
		{"bearer with a body", "POST", false, bearer, "POST /orders/A-1 HTTP/1.1\r\nHost: HOST\r\nUser-Agent: countersign\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\nContent-Length: 14\r\n" + runtime + "Authorization: Bearer " + secret + "\r\n\r\n" + `{"note":"a b"}`},
		{"key without a body", "PUT", true, key, "PUT /orders/A-1 HTTP/1.1\r\nHost: HOST\r\nUser-Agent: countersign\r\nAccept: application/json\r\nAccept-Encoding: identity\r\nContent-Length: 0\r\n" + runtime + "X-Shop-Key: " + secret + "\r\n\r\n"},
		{"delete without a body", "DELETE", true, key, "DELETE /orders/A-1 HTTP/1.1\r\nHost: HOST\r\nUser-Agent: countersign\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n" + runtime + "X-Shop-Key: " + secret + "\r\n\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.project.Auth = tt.auth
			call := b.call(t, tt.method)
			if tt.noBody {
				call.Request.Body = countersign.Null // as a stored request reads back
			}
			want := strings.Replace(tt.want, "HOST", strings.TrimPrefix(b.receiver.URL(), "http://"), 1)
			if got := b.raw(t, call); got != want {
				t.Errorf("got\n%q, want\n%q", got, want)
			}
		})
	}
}

// TestTheSignatureIsOfTheBytesOnTheWire (invariant D7): recomputed here from what
// the receiver logged, with nothing of ours but the secret.
func TestTheSignatureIsOfTheBytesOnTheWire(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		b := setup(t)
		raw := b.raw(t, b.call(t, method))
		if got, want := signedWith(raw, secret); got != want {
			t.Errorf("%s: got signature %s, want %s", method, got, want)
		}
		mustNotHold(t, raw)
	}
}

// TestTheSecretSignsAsItIs: a receiver that has the same variable has the same
// bytes, a line feed at the end included.
func TestTheSecretSignsAsItIs(t *testing.T) {
	t.Parallel()
	for _, as := range []string{secret + "\n", " " + secret, "\t" + secret + " "} {
		b := setup(t)
		b.env[signingEnv] = as
		if got, want := signedWith(b.raw(t, b.call(t, "POST")), as); got != want {
			t.Errorf("%q: got signature %s, want %s", as, got, want)
		}
	}
}

// signedWith gives the signature of a raw request, and what it is by a secret.
func signedWith(raw, secret string) (got, want string) {
	head, body, _ := strings.Cut(raw, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	words := strings.Split(lines[0], " ")
	header := map[string]string{}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		header[name] = value
	}
	sum := sha256.Sum256([]byte(body))
	text := strings.Join([]string{
		words[0], words[1], header["X-Runtime-Timestamp"], header["Idempotency-Key"],
		header["X-Runtime-Run-Id"], header["X-Runtime-Step-Id"], hex.EncodeToString(sum[:]),
	}, "\n")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return header["X-Runtime-Signature"], "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// TestProxiesOfTheEnvironmentAreIgnored: nothing listens at the one it names.
func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("NO_PROXY", "")
	b := setup(t)
	b.warm(t)
}

func TestCookiesAreForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.receiver.Next(faultreceiver.Named("cookie"))
	b.warm(t)
	b.warm(t)
	b.delivered(t)
	if raw := b.receiver.Raw()[0]; strings.Contains(raw, "Cookie") {
		t.Errorf("a cookie came back: %q", raw)
	}
}

// TestACredentialSentBackIsMasked, however the receiver spells it.
func TestACredentialSentBackIsMasked(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{countersign.AuthBearer, countersign.AuthAPIKey, countersign.AuthHMAC} {
		b := setup(t)
		b.project.Auth = countersign.OneAuth(countersign.Auth{Type: auth, CredentialEnv: keyEnv})
		if auth == countersign.AuthAPIKey {
			b.project.Auth.One.HeaderName = "X-Key"
		}
		body := `{"seen":"Bearer ` + secret + `","n":1.50,"raw":"\u0063anary-7f3Kq\/9+z=Lm"}`
		b.receiver.Next(faultreceiver.Answering("mirror", faultreceiver.JSON(200, body)))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		want := `{"seen":"Bearer [credential]","n":1.50,"raw":"[credential]"}`
		if o.Certainty != request.Returned || o.Body.Raw() != want {
			t.Errorf("%s: got %+v", auth, o)
		}
		mustNotHold(t, fmt.Sprintf("%+v", o))
		if string(o.Response.BodySHA256) != countersign.SHA256Hex([]byte(body)) || int(o.Response.Bytes) != len(body) {
			t.Errorf("%s: the evidence is not of the bytes that came: %+v", auth, o.Response)
		}
	}
}
