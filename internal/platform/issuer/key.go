package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
)

// algorithms are those that are taken; never none, and none with a shared secret.
var algorithms = []string{"RS256", "PS256", "ES256", "EdDSA"}

// Bounds of an issuer's keys. A longer RSA key would make each look at a token dear.
const (
	maxKeys = 100
	leastN  = 2048
	mostN   = 8192
)

// key is one of an issuer's public keys.
type key struct {
	id     string
	alg    string // the only algorithm that it is for; "": whichever fits
	public crypto.PublicKey
}

// parseKeys reads a set of keys (RFC 7517). One that can't be used is skipped: sets have keys for
// other purposes, and of kinds that nobody here knows.
func parseKeys(doc []byte) (keys []key, err error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, errors.New("its keys are no JSON object with a list of keys")
	}
	for _, text := range set.Keys {
		if len(keys) == maxKeys {
			break
		}
		var m members
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		if k, ok := m.key(); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("none of its %d keys can be used", len(set.Keys))
	}
	return keys, nil
}

// key is the key that a set's member is; false for one that can't be used.
func (m members) key() (k key, ok bool) {
	k.id, _ = m.text("kid")
	if !m.forSignatures() {
		return k, false
	}
	if _, has := m["alg"]; has {
		if k.alg, _ = m.text("alg"); !slices.Contains(algorithms, k.alg) {
			return k, false
		}
	}
	switch kind, _ := m.text("kty"); kind {
	case "RSA":
		k.public, ok = m.rsaKey()
	case "EC":
		k.public, ok = m.ecKey()
	case "OKP":
		k.public, ok = m.edKey()
	}
	return k, ok && (k.alg == "" || k.fits(k.alg))
}

// forSignatures reports a key that may verify, and whose private half isn't published beside it.
func (m members) forSignatures() bool {
	if use, is := m["use"]; is && string(use) != `"sig"` {
		return false
	}
	if _, is := m["key_ops"]; is {
		if ops, _ := m.texts("key_ops"); !slices.Contains(ops, "verify") {
			return false
		}
	}
	_, private := m["d"]
	return !private
}

func (m members) bytes(name string) []byte {
	text, _ := m.text(name)
	raw, err := plain(text)
	if err != nil {
		return nil
	}
	return raw
}

func (m members) rsaKey() (crypto.PublicKey, bool) {
	n, e := new(big.Int).SetBytes(m.bytes("n")), new(big.Int).SetBytes(m.bytes("e"))
	if n.BitLen() < leastN || n.BitLen() > mostN || n.Bit(0) == 0 || e.BitLen() > 31 || e.Int64() < 3 || e.Bit(0) == 0 {
		return nil, false
	}
	return &rsa.PublicKey{N: n, E: int(e.Int64())}, true
}

func (m members) ecKey() (crypto.PublicKey, bool) {
	const size = 32
	x, y := m.bytes("x"), m.bytes("y")
	if curve, _ := m.text("crv"); curve != "P-256" || len(x) != size || len(y) != size {
		return nil, false
	}
	k, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	return k, err == nil
}

func (m members) edKey() (crypto.PublicKey, bool) {
	x := m.bytes("x")
	if curve, _ := m.text("crv"); curve != "Ed25519" || countersign.CheckEd25519(x) != nil {
		return nil, false
	}
	return ed25519.PublicKey(x), true
}

// fits reports a key of the algorithm's kind that isn't for another one.
func (k key) fits(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch k.public.(type) {
	case *rsa.PublicKey:
		return alg == "RS256" || alg == "PS256"
	case *ecdsa.PublicKey:
		return alg == "ES256"
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// verifies reports that the key made a signature by an algorithm that it fits.
func (k key) verifies(alg, signed string, signature []byte) bool {
	sum := sha256.Sum256([]byte(signed))
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		if alg == "PS256" {
			return rsa.VerifyPSS(public, crypto.SHA256, sum[:], signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
		}
		return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
	case *ecdsa.PublicKey:
		const half = 32
		return len(signature) == 2*half && ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:]))
	case ed25519.PublicKey:
		return ed25519.Verify(public, []byte(signed), signature)
	}
	return false
}
