package assertion_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/assertion"
)

var base64url = base64.RawURLEncoding.EncodeToString

// TestAnAnswerThatDoesNotHoldSaysWhy reads what each wrong answer of a passkey is refused
// with. A right one, changed in one place, is all that is tried.
func TestAnAnswerThatDoesNotHoldSaysWhy(t *testing.T) {
	d := assertion.Decision{ApprovalID: "apr-1", RequestDigest: "00ff", Decision: countersign.ApprovalApproved, Reason: "the item is back"}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	client := fmt.Sprintf(`{"type":"webauthn.get","challenge":%q,"origin":"https://console.example.com","crossOrigin":false}`, base64url(d.Challenge()))
	party := sha256.Sum256([]byte("console.example.com"))
	data := string(party[:]) + "\x05\x00\x00\x00\x07"
	signed := func(client, data string) *countersign.Assertion {
		hash := sha256.Sum256([]byte(client))
		sum := sha256.Sum256([]byte(data + string(hash[:])))
		signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return &countersign.Assertion{SignedAnswer: countersign.SignedAnswer{ClientDataJSON: base64url([]byte(client)), AuthenticatorData: base64url([]byte(data)), Signature: base64url(signature)},
			RPID: "console.example.com", PublicKey: base64url(spki)}
	}
	with := func(change func(*countersign.Assertion)) *countersign.Assertion {
		a := signed(client, data)
		change(a)
		return a
	}
	if c, err := assertion.Check(d, signed(client, data)); err != nil || c.Counter != 7 || c.Origin != "https://console.example.com" {
		t.Fatalf("a right answer: %+v, %v", c, err)
	}
	page := func(old, now string) *countersign.Assertion {
		return signed(strings.Replace(client, old, now, 1), data)
	}
	for _, test := range []struct {
		name string
		a    *countersign.Assertion
		want string
	}{
		{"padding", with(func(a *countersign.Assertion) { a.Signature += "=" }), "its members must be base64url without padding"},
		{"a line break", with(func(a *countersign.Assertion) { a.PublicKey += "\n" }), "its members must be base64url without padding"},
		{"no JSON", signed("{", data), "clientDataJSON is no JSON object with unique keys"},
		{"a registration", page("webauthn.get", "webauthn.create"), "clientDataJSON is of another ceremony"},
		{"another reason", page(base64url(d.Challenge()), base64url(assertion.Decision{}.Challenge())), "it is about another decision: another approval, request, answer or reason than this one"},
		{"another site's page", page("console.example.com", "console.example.org"), `it was made on a page of "https://console.example.org", which is not one of console.example.com`},
		{"a frame", page("false", "true"), "it was made in a frame of another site's page"},
		{"half the data", signed(client, data[:36]), "authenticatorData is too short"},
		{"another party's data", signed(client, "x"+data[1:]), "it is of another relying party than the passkey"},
		{"a touch alone", signed(client, strings.Replace(data, "\x05\x00", "\x01\x00", 1)), "the authenticator did not verify its user, by PIN, fingerprint or face"},
		{"data of a registration", signed(client, strings.Replace(data, "\x05\x00", "\x45\x00", 1)), "authenticatorData is not that of an assertion"},
		{"no key", with(func(a *countersign.Assertion) { a.PublicKey = base64url([]byte("key")) }), "publicKey is no SubjectPublicKeyInfo"},
		{"a signature of other data", with(func(a *countersign.Assertion) { a.Signature = signed(client, data+"x").Signature }), "its signature is not of the registered key"},
	} {
		if _, err := assertion.Check(d, test.a); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nnot %s", test.name, err, test.want)
		}
	}
}
