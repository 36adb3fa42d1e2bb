// Package signature defines how a call to a project API is signed (specification
// 5.2, contract 8): once, for the service that signs and for the receivers that
// verify. It is pure: the time comes in as an argument.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
)

// The runtime headers of every outbound call; Signature with HMAC only.
const (
	HeaderIdempotencyKey = "Idempotency-Key"
	HeaderRunID          = "X-Runtime-Run-Id"
	HeaderStepID         = "X-Runtime-Step-Id"
	HeaderTimestamp      = "X-Runtime-Timestamp"
	HeaderSignature      = "X-Runtime-Signature"
)

// Scheme begins the value of the signature header; lowercase hex follows.
const Scheme = "sha256="

// Why a signature is refused.
var (
	ErrNoSecret  = errors.New("the secret is empty")
	ErrLineBreak = errors.New("a signed part holds a line break")
	ErrTimestamp = errors.New("the timestamp is not Unix seconds within five minutes of now")
	ErrSignature = errors.New("the signature does not match")
)

// Parts are what is signed, in this order.
type Parts struct {
	Method         string `json:"method"`
	PathAndQuery   string `json:"pathAndQuery"` // as on the wire: the request target
	Timestamp      string `json:"timestamp"`    // Unix seconds
	IdempotencyKey string `json:"idempotencyKey"`
	RunID          string `json:"runId"`
	StepID         string `json:"stepId"`
	BodySHA256     string `json:"bodySha256"` // lowercase hex, of no bytes when there is no body
}

// Canonical is the string that is signed: the seven parts joined by a line feed,
// without one at the end. A part that holds a line break is refused, for it could
// make two different calls read the same.
func Canonical(p Parts) (string, error) {
	parts := []string{p.Method, p.PathAndQuery, p.Timestamp, p.IdempotencyKey, p.RunID, p.StepID, p.BodySHA256}
	for _, part := range parts {
		if strings.ContainsAny(part, "\r\n") {
			return "", ErrLineBreak
		}
	}
	return strings.Join(parts, "\n"), nil
}

// BodyHash is the last part: the lowercase hex SHA-256 of the raw body.
func BodyHash(body []byte) string { return countersign.SHA256Hex(body) }

// Sign makes the value of the signature header.
func Sign(secret []byte, p Parts) (string, error) {
	text, err := Canonical(p)
	if err != nil {
		return "", err
	}
	if len(secret) == 0 { // HMAC with an empty key is one that everybody has
		return "", ErrNoSecret
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return Scheme + hex.EncodeToString(mac.Sum(nil)), nil
}

// Verify is nil when header is the signature of the parts and their timestamp is
// within the window of now. The receiver takes the parts from the request as it
// arrived, the body hash from its raw bytes. Signatures compare in constant time.
func Verify(secret []byte, p Parts, header string, now time.Time) error {
	want, err := Sign(secret, p)
	if err != nil {
		return err
	}
	if !hmac.Equal([]byte(want), []byte(header)) {
		return ErrSignature
	}
	sent, err := strconv.ParseInt(p.Timestamp, 10, 64)
	if err != nil || strconv.FormatInt(sent, 10) != p.Timestamp || !within(time.Unix(sent, 0), now) {
		return ErrTimestamp
	}
	return nil
}

func within(sent, now time.Time) bool {
	distance := now.Sub(sent)
	return -countersign.SignatureWindow <= distance && distance <= countersign.SignatureWindow
}
