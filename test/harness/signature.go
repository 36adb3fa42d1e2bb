package harness

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sign computes the HMAC signature of specification 5.2 from the raw bytes of a request, with nothing
// but the standard library.
func Sign(q Request, secret string) string {
	head, body, _ := bytes.Cut(q.Raw, []byte("\r\n\r\n"))
	target := strings.Split(string(head), " ")
	sum := sha256.Sum256(body)
	parts := []string{
		target[0], target[1], rawHeader(head, "X-Runtime-Timestamp"), rawHeader(head, "Idempotency-Key"),
		rawHeader(head, "X-Runtime-Run-Id"), rawHeader(head, "X-Runtime-Step-Id"), hex.EncodeToString(sum[:]),
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(parts, "\n")))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func rawHeader(head []byte, name string) string {
	for _, line := range strings.Split(string(head), "\r\n") {
		if got, v, ok := strings.Cut(line, ": "); ok && strings.EqualFold(got, name) {
			return v
		}
	}
	return ""
}

// begun is when the tests began, before any request.
var begun = time.Now().Truncate(time.Second)

// CheckSignature checks that a request is signed with the secret, and with a timestamp between the
// beginning of the tests and its arrival.
func CheckSignature(q Request, secret string) error {
	if want, got := Sign(q, secret), q.Header.Get("X-Runtime-Signature"); got != want {
		return fmt.Errorf("the signature is %q; expected %q", got, want)
	}
	text := q.Header.Get("X-Runtime-Timestamp")
	sent, err := strconv.ParseInt(text, 10, 64)
	if at := time.Unix(sent, 0); err != nil || at.Before(begun) || at.After(q.Arrived) {
		return fmt.Errorf("the timestamp %q is not that of the sending", text)
	}
	return nil
}
