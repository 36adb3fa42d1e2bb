package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"syscall"

	"github.com/countersign/countersign/internal/platform/dialing"
)

// dialer opens connections to registered origins and nowhere else. It never asks
// for a proxy. The zero value is ready; the fields are the tests'.
type dialer struct {
	resolver *net.Resolver
	roots    *x509.CertPool
}

// errAddress is the refusal of an address that a name was resolved to.
const errAddress = cause("the address of the receiver is not allowed")

// dial connects and, for https, shakes hands. Not a byte of a request has been
// written when it returns, so every error of it is NotSent.
func (d dialer) dial(ctx context.Context, o origin) (*conn, error) {
	nd := net.Dialer{Resolver: d.resolver, ControlContext: guard(o.name)}
	raw, err := nd.DialContext(ctx, "tcp", o.address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: raw}
	if !o.tls {
		return newConn(w, w), nil
	}
	secured := tls.Client(w, &tls.Config{
		ServerName: o.name,
		RootCAs:    d.roots,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},

		GetClientCertificate: w.noCertificate,
	})
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, handshakeError{err, w.asked}
	}
	return newConn(w, secured), nil
}

// handshakeError is an error of the TLS handshake.
type handshakeError struct {
	error
	asked bool // for a client certificate
}

func (e handshakeError) Unwrap() error { return e.error }

// guard sees the very address that is about to be connected to, after the name
// was resolved, so that no second look-up can differ from the first.
func guard(host string) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !dialing.Allowed(to.Addr(), host) {
			return errAddress
		}
		return nil
	}
}
