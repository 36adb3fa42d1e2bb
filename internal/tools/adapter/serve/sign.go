package serve

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
	"github.com/countersign/countersign/receiver"
)

// AnswerKey is the key by which the answers of an upstream are signed.
func AnswerKey(secrets up.Secrets, u *file.Upstream) (ed25519.PrivateKey, error) {
	seed, err := secrets.Of(u.AnswerKeyEnv)
	if err != nil {
		return nil, err
	}
	key, err := receiver.ParseAnswerKey(seed)
	if err != nil {
		return nil, fmt.Errorf("%s: it must be the seed of an Ed25519 key, 64 hex digits", u.AnswerKeyEnv)
	}
	return key, nil
}

// signs reports an answer that is signed: not one that anybody could draw beside the true one,
// nor one that says that nothing is known, or that isn't kept.
func signs(a *up.Answer) bool {
	switch a.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		return false
	}
	return a.Status < http.StatusInternalServerError && !a.Unkept
}

// sign signs an answer for its caller (contract 12.6).
func (a *asked) sign(out *up.Answer) error {
	key, err := AnswerKey(a.cfg.Secrets, a.as)
	if err != nil {
		return err
	}
	value, err := signature.SignAnswer(key, signature.Answer{
		IdempotencyKey: a.by.IdempotencyKey, Timestamp: strconv.FormatInt(a.by.SentAt.Unix(), 10), Method: a.by.Method, PathAndQuery: a.by.Target,
		BodySHA256: signature.BodyHash(a.body), Status: out.Status, AnswerSHA256: signature.BodyHash(out.Body),
	}, a.cfg.Now())
	if err == nil {
		a.w.Header().Set(signature.HeaderAnswer, value)
	}
	return err
}
