package receiver

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"

	"github.com/countersign/countersign/internal/evidence/signature"
)

// ParseAnswerKey makes the key that signs answers from its seed: 64 hex digits, such as `openssl
// rand -hex 32` prints. Keep the seed as you keep a secret.
func ParseAnswerKey(seed string) (ed25519.PrivateKey, error) {
	bytes, err := hex.DecodeString(seed)
	if err != nil || len(bytes) != ed25519.SeedSize {
		return nil, errors.New("receiver: the seed of an answer key is 64 hex digits")
	}
	return ed25519.NewKeyFromSeed(bytes), nil
}

// AnswerKeyText is the public half of an answer key as a project registers it in answerKeys:
// `ed25519:` and 64 hex digits.
func AnswerKeyText(key ed25519.PrivateKey) string {
	return signature.AnswerKeyText(key.Public().(ed25519.PublicKey))
}
