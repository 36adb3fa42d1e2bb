package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// answer is the result of one call.
type answer struct {
	connected bool   // false: nothing was sent
	status    int    // 0: no answer came
	digest    string // of the body's canonical JSON, else of its bytes; "" for no body
	flaw      string // why the answer can't be used; "" if it can

	body       []byte   // as it came
	signatures []string // all values of X-Runtime-Answer
	unsigned   error    // why no answer key of the project signed it; nil if one did
}

// accepted reports whether the service would take the answer as success.
func (a answer) accepted() bool { return a.flaw == "" && a.status >= 200 && a.status < 300 }

// refused reports whether the answer says that the call was not carried out. 408 does not:
// after it the service asks a person.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout
}

// same reports whether two answers are equal: the status, and the JSON by value.
func (a answer) same(b answer) bool {
	return a.status != 0 && a.flaw == "" && b.flaw == "" && a.status == b.status && a.digest == b.digest
}

// words describe the answer without any text of the receiver.
func (a answer) words() string {
	switch {
	case a.status == 0:
		return a.flaw
	case a.flaw != "":
		return strconv.Itoa(a.status) + ", " + a.flaw
	case a.accepted() && a.digest != "":
		return strconv.Itoa(a.status) + " sha256 " + a.digest[:12]
	default:
		return strconv.Itoa(a.status)
	}
}

// read reads the body of an answer.
func read(resp *http.Response) answer {
	a := answer{connected: true, status: resp.StatusCode, signatures: resp.Header.Values(signature.HeaderAnswer)}
	body, err := io.ReadAll(io.LimitReader(resp.Body, countersign.MaxBodyBytes+1))
	a.body = body
	switch {
	case err != nil:
		a.flaw = "the answer was cut off"
	case len(body) > countersign.MaxBodyBytes:
		a.flaw = "the answer exceeds 1 MiB"
	case len(body) == 0:
	case exactjson.Check(body) == nil:
		a.digest = countersign.RawValue(string(body)).Digest()
	default:
		a.digest = countersign.SHA256Hex(body)
		if a.status < 300 {
			a.flaw = "not JSON"
		}
	}
	return a
}

// flawOf describes a failed call without addresses and without text of the receiver.
func flawOf(err error, timeout time.Duration) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", timeout)
	case errors.As(err, &dns):
		return "the name could not be resolved"
	case errors.As(err, &certificate):
		return "the certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection closed before an answer"
	default:
		return "the connection failed, or what came is no HTTP"
	}
}
