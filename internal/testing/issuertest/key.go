package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"testing"
)

// Key signs tokens.
type Key struct {
	ID, Algorithm string
	private       crypto.Signer
}

// NewKey makes a key for an algorithm.
func NewKey(t testing.TB, algorithm, id string) *Key {
	t.Helper()
	k := &Key{ID: id, Algorithm: algorithm}
	var err error
	switch algorithm {
	case "RS256", "PS256":
		k.private, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		k.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil || k.private == nil {
		t.Fatal(algorithm, err)
	}
	return k
}

// Small makes an RSA key of so many bits.
func Small(t testing.TB, bits int, id string) *Key {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return &Key{ID: id, Algorithm: "RS256", private: private}
}

// Public is the key as a member of a set.
func (k *Key) Public() map[string]any {
	out := map[string]any{"kid": k.ID, "use": "sig", "alg": k.Algorithm}
	switch public := k.private.Public().(type) {
	case *rsa.PublicKey:
		out["kty"], out["n"], out["e"] = "RSA", Encode(public.N.Bytes()), Encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		out["kty"], out["crv"], out["x"], out["y"] = "EC", "P-256", Encode(point[1:33]), Encode(point[33:])
	case ed25519.PublicKey:
		out["kty"], out["crv"], out["x"] = "OKP", "Ed25519", Encode(public)
	}
	return out
}

// Header is the usual one.
func (k *Key) Header() map[string]any {
	return map[string]any{"alg": k.Algorithm, "kid": k.ID, "typ": "at+jwt"}
}

// Sign is a token.
func (k *Key) Sign(t testing.TB, header, claims any) string {
	t.Helper()
	return k.SignText(t, text(header)+"."+text(claims))
}

// SignText puts the signature behind what is signed.
func (k *Key) SignText(t testing.TB, signed string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	var err error
	switch private := k.private.(type) {
	case *rsa.PrivateKey:
		if k.Algorithm == "PS256" {
			signature, err = rsa.SignPSS(rand.Reader, private, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			signature, err = rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, sum[:])
		}
	case *ecdsa.PrivateKey:
		r, s, failed := ecdsa.Sign(rand.Reader, private, sum[:])
		if err = failed; err == nil {
			signature = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
	case ed25519.PrivateKey:
		signature = ed25519.Sign(private, []byte(signed))
	}
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + Encode(signature)
}

// HMAC is a token that is signed with a secret.
func HMAC(secret []byte, header, claims any) string {
	signed := text(header) + "." + text(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	return signed + "." + Encode(mac.Sum(nil))
}

// Encode is base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// text is a part of a token: JSON as it is given, or of a value.
func text(v any) string {
	if raw, is := v.(string); is {
		return Encode([]byte(raw))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return Encode(raw)
}
