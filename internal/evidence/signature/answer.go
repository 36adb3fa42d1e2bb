package signature

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// HeaderAnswer is the header by which a receiver signs an answer (contract 12.6).
const HeaderAnswer = "X-Runtime-Answer"

// AnswerKeyPrefix begins a public key as a project registers it; 64 lowercase hex digits follow.
const AnswerKeyPrefix = "ed25519:"

const (
	answerContext = "countersign-answer/1"
	answerVersion = "v1"
)

// Why a signed answer counts for nothing.
var (
	ErrUnsigned    = errors.New("the answer has no " + HeaderAnswer)
	ErrAnswerForm  = errors.New(HeaderAnswer + " is not `v1 <unix seconds> <128 lowercase hex digits>`, once")
	ErrAnswerKeyed = errors.New(HeaderAnswer + " was made by none of the keys, or of another answer")
)

// Answer are the values that the signature of an answer binds: the request that was answered, as
// its receiver got it, and the answer.
type Answer struct {
	IdempotencyKey string `json:"idempotencyKey"`
	Timestamp      string `json:"timestamp"` // the request's, as it was sent
	Method         string `json:"method"`
	PathAndQuery   string `json:"pathAndQuery"` // as in the request line
	BodySHA256     string `json:"bodySha256"`   // of the request
	Status         int    `json:"status"`
	AnswerSHA256   string `json:"answerSha256"` // of the answer's raw body
}

// text is the string that is signed.
func (a Answer) text(seconds string) (string, error) {
	parts := []string{answerContext, a.IdempotencyKey, a.Timestamp, a.Method, a.PathAndQuery, a.BodySHA256, strconv.Itoa(a.Status), a.AnswerSHA256, seconds}
	for _, part := range parts {
		if strings.ContainsAny(part, "\r\n") {
			return "", ErrLineBreak
		}
	}
	return strings.Join(parts, "\n"), nil
}

// SignAnswer makes the value of the header, at a time.
func SignAnswer(key ed25519.PrivateKey, a Answer, at time.Time) (string, error) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	text, err := a.text(seconds)
	if err != nil {
		return "", err
	}
	return answerVersion + " " + seconds + " " + hex.EncodeToString(ed25519.Sign(key, []byte(text))), nil
}

// AnsweredBy is a signature of an answer that holds.
type AnsweredBy struct {
	KeyID string
	At    time.Time
}

var answerForm = regexp.MustCompile(`^` + answerVersion + ` (0|[1-9][0-9]{0,11}) ([0-9a-f]{128})$`)

// VerifyAnswer says by which of the keys the answer was signed, and when. headers are all values
// that the header has: a repeated one is none, for two readers could take another of them.
func VerifyAnswer(keys []ed25519.PublicKey, a Answer, headers []string) (AnsweredBy, error) {
	if len(headers) == 0 {
		return AnsweredBy{}, ErrUnsigned
	}
	form := answerForm.FindStringSubmatch(headers[0])
	if len(headers) != 1 || form == nil {
		return AnsweredBy{}, ErrAnswerForm
	}
	text, err := a.text(form[1])
	if err != nil {
		return AnsweredBy{}, err
	}
	signed, err := hex.DecodeString(form[2])
	if err != nil {
		return AnsweredBy{}, ErrAnswerForm
	}
	for _, key := range keys {
		if ed25519.Verify(key, []byte(text), signed) {
			seconds, _ := strconv.ParseInt(form[1], 10, 64) // by its form a number
			return AnsweredBy{KeyID: AnswerKeyID(key), At: time.Unix(seconds, 0).UTC()}, nil
		}
	}
	return AnsweredBy{}, ErrAnswerKeyed
}

// AnswerKeyID is the id of a public key: the lowercase hex SHA-256 of its 32 bytes.
func AnswerKeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// AnswerKeyText is a public key as a project registers it.
func AnswerKeyText(key ed25519.PublicKey) string { return AnswerKeyPrefix + hex.EncodeToString(key) }

var answerKeyForm = regexp.MustCompile(`^` + AnswerKeyPrefix + `([0-9a-f]{64})$`)

// ParseAnswerKey reads what AnswerKeyText writes. A key for which anybody could sign is none.
func ParseAnswerKey(text string) (ed25519.PublicKey, error) {
	form := answerKeyForm.FindStringSubmatch(text)
	if form == nil {
		return nil, errors.New("an answer key is `" + AnswerKeyPrefix + "` and 64 lowercase hex digits")
	}
	key, err := hex.DecodeString(form[1])
	if err != nil {
		return nil, err
	}
	return key, countersign.CheckEd25519(key)
}
