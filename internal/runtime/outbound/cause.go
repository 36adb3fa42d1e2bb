package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// cause is an error whose text is written here and may be shown to anybody: it
// holds no credential, no address but the registered origin, and nothing that a
// receiver sent.
type cause string

func (c cause) Error() string { return string(c) }

// causeOf puts any error of a call into words that are safe and stable. Texts of
// the network are never passed on: they hold addresses.
func causeOf(err error) string {
	var safe cause
	var dns *net.DNSError
	var handshake handshakeError
	switch {
	case errors.As(err, &safe):
		return string(safe)
	case errors.As(err, &dns):
		return "the name could not be resolved"
	case errors.As(err, &handshake):
		return handshakeCause(handshake)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset before a complete answer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed before a complete answer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the receiver"
	default:
		return "the connection failed"
	}
}

func handshakeCause(err handshakeError) string {
	var unverified *tls.CertificateVerificationError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "the receiver's certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the receiver's certificate has expired or is not yet valid"
	case errors.As(err, &unverified):
		return "the receiver's certificate is not trusted"
	case err.asked && isEnd(err):
		return string(errCertificateWanted)
	default:
		return "the TLS handshake failed"
	}
}

// stopped is the cause of a call that its context ended, rather than the receiver.
func stopped(why error, a answer, timeout time.Duration) cause {
	phase := "no connection"
	switch {
	case a.head:
		phase = "no complete answer"
	case a.sent:
		phase = "no answer"
	}
	if errors.Is(why, errTimeout) {
		return cause(phase + " within " + duration(timeout))
	}
	if errors.Is(why, context.DeadlineExceeded) {
		return cause("the call ran out of time: " + phase)
	}
	return cause("the call was stopped: " + phase)
}

// duration writes 10s and 1.5s.
func duration(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
