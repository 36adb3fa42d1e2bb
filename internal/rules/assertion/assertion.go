// Package assertion says what a passkey signs when somebody decides an approval, and checks
// it. The service and whoever verifies a receipt go by this one definition.
package assertion

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Decision is what is signed: this answer to the approval of this request, for this reason.
type Decision struct {
	ApprovalID, RequestDigest string
	StateDigest               string // of an approval against a state, "" for one without
	Decision                  countersign.ApprovalStatus
	Reason                    string
}

// Challenge is what the browser is given to sign. Whoever has the decision can compute it.
func (d Decision) Challenge() []byte {
	lead := "countersign decision v1\n" + d.ApprovalID + "\n" + d.RequestDigest + "\n"
	if d.StateDigest != "" {
		lead = "countersign decision v2\n" + d.ApprovalID + "\n" + d.RequestDigest + "\n" + d.StateDigest + "\n"
	}
	sum := sha256.Sum256([]byte(lead + string(d.Decision) + "\n" + countersign.SHA256Hex([]byte(d.Reason))))
	return sum[:]
}

// ChangeDecision is what is signed of a proposed change.
type ChangeDecision struct {
	ChangeID, Digest string
	Decision         countersign.ApprovalStatus
	Reason           string
}

// Challenge is what the browser is given to sign.
func (d ChangeDecision) Challenge() []byte {
	sum := sha256.Sum256([]byte("countersign change v1\n" + d.ChangeID + "\n" + d.Digest + "\n" + string(d.Decision) + "\n" + countersign.SHA256Hex([]byte(d.Reason))))
	return sum[:]
}

// Signed is what a passkey answers.
type Signed interface{ Challenge() []byte }

// Required refuses an approval without an assertion.
func Required() error {
	return countersign.Errorf(countersign.CodeAssertionRequired, "this tenant wants each approval signed with a passkey of whoever gives it; sign in to the console and approve it on its page, or reject it here")
}

// Invalid refuses an assertion, and says why.
func Invalid(why error) error {
	return countersign.RefusedAt(countersign.CodeAssertionInvalid, "assertion", "%v", why)
}

// Checked is what a good assertion says besides.
type Checked struct {
	Origin  string // of the page on which it was made
	Counter uint32 // of the authenticator; 0 for one without
}

// Flags of an authenticator's data.
const (
	userPresent  = 0x01
	userVerified = 0x04
	backupMay    = 0x08
	backedUp     = 0x10
	attested     = 0x40
	extended     = 0x80
)

// dataLength is that of an authenticator's data without extensions.
const dataLength = sha256.Size + 1 + 4

// Check returns nil if a is an answer of its passkey to this decision, made on a page of the
// passkey's relying party by a user whom the authenticator had verified.
func Check(d Signed, a *countersign.Assertion) (c Checked, err error) {
	data, errData := decoded(a.AuthenticatorData)
	client, errClient := decoded(a.ClientDataJSON)
	signature, errSignature := decoded(a.Signature)
	spki, errKey := decoded(a.PublicKey)
	if err := errors.Join(errData, errClient, errSignature, errKey); err != nil {
		return c, errors.New("its members must be base64url without padding")
	}
	if c.Origin, err = checkClient(client, d.Challenge(), a.RPID); err != nil {
		return c, err
	}
	if c.Counter, err = checkData(data, a.RPID); err != nil {
		return c, err
	}
	hash := sha256.Sum256(client)
	return c, verify(spki, append(bytes.Clone(data), hash[:]...), signature)
}

// decoded reads the one spelling of bytes in base64url.
func decoded(text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err == nil && (len(b) == 0 || strings.ContainsAny(text, "\r\n")) {
		err = errors.New("empty, or with line breaks")
	}
	return b, err
}

// checkClient checks what the browser says of the page.
func checkClient(text, challenge []byte, rpID string) (origin string, err error) {
	var members map[string]countersign.Value
	if err := exactjson.Decode(text, &members); err != nil || members == nil {
		return "", errors.New("clientDataJSON is no JSON object with unique keys")
	}
	origin = textOf(members["origin"])
	cross, told := members["crossOrigin"]
	_, top := members["topOrigin"]
	switch {
	case textOf(members["type"]) != "webauthn.get":
		return "", errors.New("clientDataJSON is of another ceremony")
	case textOf(members["challenge"]) != base64.RawURLEncoding.EncodeToString(challenge):
		return "", errors.New("it is about another decision: another approval, request, answer or reason than this one")
	case !ofParty(origin, rpID):
		return "", fmt.Errorf("it was made on a page of %q, which is not one of %s", origin, rpID)
	case top || told && cross.Raw() != "false":
		return "", errors.New("it was made in a frame of another site's page")
	}
	return origin, nil
}

// textOf is the text of a JSON string, "" for anything else.
func textOf(v countersign.Value) string {
	if v.Kind() != countersign.KindString {
		return ""
	}
	return v.Text()
}

// ofParty reports a page of the relying party: of its very name, by https, or by http on this
// machine.
func ofParty(origin, rpID string) bool {
	found := originForm.FindStringSubmatch(origin)
	if found == nil || rpID == "" || found[2] != rpID {
		return false
	}
	return found[1] == "https" || rpID == "localhost" || strings.HasSuffix(rpID, ".localhost")
}

var originForm = regexp.MustCompile(`^(https?)://([^/?#@\\\s:]+)(?::[0-9]{1,5})?$`)

// checkData checks what the authenticator says.
func checkData(data []byte, rpID string) (counter uint32, err error) {
	if len(data) < dataLength {
		return 0, errors.New("authenticatorData is too short")
	}
	hash, flags := sha256.Sum256([]byte(rpID)), data[sha256.Size]
	switch {
	case !bytes.Equal(data[:sha256.Size], hash[:]):
		return 0, errors.New("it is of another relying party than the passkey")
	case flags&userPresent == 0 || flags&userVerified == 0:
		return 0, errors.New("the authenticator did not verify its user, by PIN, fingerprint or face")
	case flags&attested != 0, flags&extended == 0 && len(data) != dataLength, flags&backedUp != 0 && flags&backupMay == 0:
		return 0, errors.New("authenticatorData is not that of an assertion")
	}
	return binary.BigEndian.Uint32(data[sha256.Size+1:]), nil
}

// Bounds of an RSA key, in bits.
const minRSA, maxRSA = 2048, 8192

var errSignature = errors.New("its signature is not of the registered key")

// verify checks a signature by the algorithms that passkeys may have here: ES256, EdDSA and
// RS256. The kind of the key decides which.
func verify(spki, signed, signature []byte) error {
	key, err := x509.ParsePKIXPublicKey(spki)
	if err != nil {
		return errors.New("publicKey is no SubjectPublicKeyInfo")
	}
	if again, err := x509.MarshalPKIXPublicKey(key); err != nil || !bytes.Equal(again, spki) {
		return errors.New("publicKey is not in the one form that it has")
	}
	sum, ok := sha256.Sum256(signed), false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		ok = key.Curve == elliptic.P256() && ecdsa.VerifyASN1(key, sum[:], signature)
	case ed25519.PublicKey:
		ok = countersign.CheckEd25519(key) == nil && ed25519.Verify(key, signed, signature)
	case *rsa.PublicKey:
		ok = key.N.BitLen() >= minRSA && key.N.BitLen() <= maxRSA && rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	if !ok {
		return errSignature
	}
	return nil
}
