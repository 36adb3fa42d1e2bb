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
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// answer is what became of one call.
type answer struct {
	connected bool   // false: not a byte was sent
	status    int    // 0: no answer came
	digest    string // of the JSON's canonical form, else of the bytes; "" for no body
	flaw      string // why no use can be made of it; "" for none
}

// accepted reports an answer that the service would take for done.
func (a answer) accepted() bool { return a.flaw == "" && a.status >= 200 && a.status < 300 }

// refused reports an answer that says the call was not carried out. 408 doesn't:
// the service asks a person then.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout
}

// same reports one answer given twice: the status, and JSON equal by value.
func (a answer) same(b answer) bool {
	return a.status != 0 && a.flaw == "" && b.flaw == "" && a.status == b.status && a.digest == b.digest
}

// words say what was seen, and nothing that the receiver wrote.
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

// read takes an answer whose head has come.
func read(resp *http.Response) answer {
	a := answer{connected: true, status: resp.StatusCode}
	body, err := io.ReadAll(io.LimitReader(resp.Body, countersign.MaxBodyBytes+1))
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

// flawOf puts a failed call into words that hold no address and nothing from
// outside.
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
