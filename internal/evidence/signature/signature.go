// Package signature signs calls to project APIs and verifies the signatures
// (specification 5.2, contract 8), for both the service and the receivers. It is
// pure: the time is an argument.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
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
	ErrTimestamp = errors.New("the timestamp is not Unix seconds within the window around now")
	ErrSignature = errors.New("the signature does not match")
)

// Parts are the signed values, in this order.
type Parts struct {
	Method         string `json:"method"`
	PathAndQuery   string `json:"pathAndQuery"` // as on the wire: the request target
	Timestamp      string `json:"timestamp"`    // Unix seconds
	IdempotencyKey string `json:"idempotencyKey"`
	RunID          string `json:"runId"`
	StepID         string `json:"stepId"`
	BodySHA256     string `json:"bodySha256"` // lowercase hex, of no bytes when there is no body
}

// Canonical is the string that is signed: the seven parts joined by line feeds,
// without one at the end. A part with a line break is refused, because two different
// calls could have the same string.
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
	return VerifyAny([][]byte{secret}, p, header, now, countersign.SignatureWindow)
}

// VerifyAny is Verify with several secrets, for secret rotation, and with a window of
// the receiver's choice. Its duration does not depend on which secret matches.
func VerifyAny(secrets [][]byte, p Parts, header string, now time.Time, window time.Duration) error {
	fits, err := signedWithAny(secrets, p, header)
	if err != nil {
		return err
	}
	if !fits {
		return ErrSignature
	}
	sent, err := SentAt(p.Timestamp)
	if err != nil || !within(sent, now, window) {
		return ErrTimestamp
	}
	return nil
}

func signedWithAny(secrets [][]byte, p Parts, header string) (fits bool, err error) {
	if err := CheckSecrets(secrets); err != nil {
		return false, err
	}
	for _, secret := range secrets {
		want, err := Sign(secret, p)
		if err != nil {
			return false, err
		}
		match := hmac.Equal([]byte(want), []byte(header)) // before ||, which would leave out the later ones
		fits = match || fits
	}
	return fits, nil
}

// CheckSecrets refuses to verify without secrets or with an empty one: a missing
// setting would be a key that everybody knows.
func CheckSecrets(secrets [][]byte) error {
	if len(secrets) == 0 || slices.ContainsFunc(secrets, func(s []byte) bool { return len(s) == 0 }) {
		return ErrNoSecret
	}
	return nil
}

// SentAt parses a timestamp: Unix seconds without sign, leading zeros or blanks.
func SentAt(timestamp string) (time.Time, error) {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != timestamp {
		return time.Time{}, ErrTimestamp
	}
	return time.Unix(seconds, 0), nil
}

func within(sent, now time.Time, window time.Duration) bool {
	distance := now.Sub(sent)
	return -window <= distance && distance <= window
}
