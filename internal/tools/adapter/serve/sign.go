package serve

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"net/http"

	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

func neverSigned(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		return true
	}
	return status >= http.StatusInternalServerError
}

func seedKey(seed string) (ed25519.PrivateKey, error) {
	raw, err := hex.DecodeString(seed)
	if err != nil || len(raw) != ed25519.SeedSize {
		return nil, errors.New("it must be the seed of an Ed25519 key, 64 hex digits")
	}
	return ed25519.NewKeyFromSeed(raw), nil
}

// PublicKey is the public half of an answer key, as a project registers it.
func PublicKey(key ed25519.PrivateKey) string {
	return "ed25519:" + hex.EncodeToString(key[ed25519.SeedSize:])
}

func (a *asked) sign(key ed25519.PrivateKey, out *up.Answer) error {
	return errors.New("not yet")
}

func (a *asked) statement(rest string) {
	write(a.w, up.NotFound(a.r.Method+" "+a.path).Answer())
}
