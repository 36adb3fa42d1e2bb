package outbound

import (
	"crypto/tls"
	"errors"
	"net"
)

// A receiver that wants a client certificate asks for it in the handshake. In TLS 1.3 the
// client's side of the handshake is over before the receiver has looked at what it got, so
// that its refusal comes after the request was written, instead of an answer.

const (
	errCertificateWanted = cause("the receiver asks for a client certificate, and this service has none: let a proxy present it")
	errEndedAsking       = cause("the receiver asks for a client certificate, and ended the connection without an answer")
)

// errCertificateRequired ends a handshake (RFC 8446, 4.4.2.4). No other moment has it: it would
// take post-handshake authentication, which the client never offers.
const errCertificateRequired = tls.AlertError(116)

// noCertificate is what the client presents.
func (w *wire) noCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	w.asked = true
	return &tls.Certificate{}, nil
}

// withoutCertificate says why there was no answer on a new connection whose receiver had
// asked for a certificate. Where its TLS says that it ended the handshake for that, the
// request was never taken out of its records: it counts as not sent. A connection that just
// ended proves nothing.
func (c *conn) withoutCertificate(a answer) answer {
	secured, ok := c.stream.(*tls.Conn)
	if ok && secured.ConnectionState().Version >= tls.VersionTLS13 && alertOf(a.err) == errCertificateRequired.Error() {
		return answer{err: errCertificateWanted}
	}
	a.err = errEndedAsking
	return a
}

// alertOf is the text of the alert by which the other side ended TLS, "" for another error.
func alertOf(err error) string {
	if remote, ok := errors.AsType[*net.OpError](err); ok && remote.Op == "remote error" {
		return remote.Err.Error()
	}
	return ""
}

func isAlert(err error) bool { return alertOf(err) != "" }
