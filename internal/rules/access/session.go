package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"github.com/countersign/countersign"
)

// What a browser's session, a sign-in code and the set-up link live by
// (contract 3). A sign-in link lives as long as its maker says.
const (
	SessionIdle     = 12 * time.Hour
	SessionAbsolute = 7 * 24 * time.Hour
	CodeLife        = 10 * time.Minute
	CodeTries       = 5
	SetupLife       = 24 * time.Hour
	PasskeyAnswer   = 5 * time.Minute  // for a browser's answer about a passkey
	FreshSignIn     = 10 * time.Minute // after signing in, for adding a passkey
)

// SignInBy says how sessions begin (contract 12.7); none named, in any way that is set up.
type SignInBy string

// The settings of SVC_PLATFORM_SIGN_IN.
const (
	SignInByAny      SignInBy = "any"
	SignInByProvider SignInBy = "oidc" // the identity provider alone
)

// Way is how a session began.
type Way string

// The ways.
const (
	ByCode     Way = "code"
	ByLink     Way = "link"
	ByPasskey  Way = "passkey"
	ByProvider Way = "provider"
	BySetUp    Way = "set-up" // the first person's, of a new service
)

// errProviderAlone refuses every other way.
var errProviderAlone = countersign.Errorf(countersign.CodeStateConflict, "sessions begin by the identity provider alone here (SVC_PLATFORM_SIGN_IN=oidc); sign in there")

// Begins is nil when a session may begin this way, and one that did may go on.
func (s SignInBy) Begins(way Way) error {
	if s == SignInByProvider && way != ByProvider && way != BySetUp {
		return errProviderAlone
	}
	return nil
}

// CookieName is what the session's cookie is called. On https its name keeps
// every other host and path from setting it; plain http, where browsers refuse
// such a name, is for loopback.
func CookieName(https bool) string {
	if https {
		return "__Host-countersign"
	}
	return "countersign"
}

// FormatSecret writes 32 random bytes as the secret of a session, of a sign-in, of a
// sign-in link or of the set-up link.
func FormatSecret(random [32]byte) string { return hex.EncodeToString(random[:]) }

// WellFormedSecret reports a text that FormatSecret may have written; only such a text
// is looked up in the store.
func WellFormedSecret(secret string) bool {
	if len(secret) != 2*sha256.Size {
		return false
	}
	for _, c := range secret {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// CSRFToken is the token that a session's unsafe requests carry besides the cookie. It
// is derived from the session's secret, so it needs no storage, ends with the session
// and discloses nothing about the secret.
func CSRFToken(secret string) string { return HashToken("csrf\n" + secret) }

// MaskCSRF encodes a token differently each time, so that the size of a compressed
// page discloses nothing about it. random is 32 fresh bytes.
func MaskCSRF(token string, random [32]byte) string {
	mixed, err := hex.DecodeString(token)
	if err != nil || len(mixed) != len(random) {
		return token
	}
	subtle.XORBytes(mixed, mixed, random[:])
	return hex.EncodeToString(random[:]) + hex.EncodeToString(mixed)
}

// ValidCSRF accepts a plain or masked token and compares in constant time.
func ValidCSRF(secret, token string) bool {
	if both, err := hex.DecodeString(token); err == nil && len(both) == 2*sha256.Size {
		random, mixed := both[:sha256.Size], both[sha256.Size:]
		subtle.XORBytes(mixed, mixed, random)
		token = hex.EncodeToString(mixed)
	}
	return subtle.ConstantTimeCompare([]byte(CSRFToken(secret)), []byte(token)) == 1
}

// codeDigits is how long a sign-in code is: with 5 tries, and few codes an hour,
// guessing one is not worth trying.
const codeDigits = 8

// FormatCode makes a sign-in code of 32 random bytes.
func FormatCode(random [32]byte) string {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(codeDigits), nil)
	n := new(big.Int).Mod(new(big.Int).SetBytes(random[:]), limit)
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// HashCode is what is stored of a code. It is bound to the sign-in that it was
// made for, whose secret the store does not know: a code is short enough to be
// found from its bare hash.
func HashCode(signIn, code string) string { return HashToken("code\n" + signIn + "\n" + code) }

// HashLink is what is stored of a sign-in link. It differs from the hash of a sign-in by
// code, beside which it is stored, so that neither secret passes for the other.
func HashLink(secret string) string { return HashToken("link\n" + secret) }

// HashQuestion is what is stored of a question about a passkey, beside sign-ins and links.
func HashQuestion(secret string) string { return HashToken("passkey\n" + secret) }

// SameHash compares in constant time.
func SameHash(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
