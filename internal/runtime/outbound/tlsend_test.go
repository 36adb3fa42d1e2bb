package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// overTLS is a bundle whose receiver speaks TLS as cfg says.
func overTLS(t *testing.T, cfg *tls.Config) bundle {
	t.Helper()
	cert, roots := selfSigned(t, "127.0.0.1", time.Now().Add(time.Hour))
	cfg.Certificates = []tls.Certificate{cert}
	r, err := faultreceiver.StartTLS(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := setupWith(t, r)
	b.client.dialer.roots = roots
	return b
}

// TestOnlyACleanEndOfTLSProvesABodyThatCouldGoOn: whoever is between can end a TCP
// connection, and a receiver that dies does.
func TestOnlyACleanEndOfTLSProvesABodyThatCouldGoOn(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"} {
		for body, itself := range map[string]bool{"": false, " ": false, "12": false, `"ab"`: false, "true": false, "null": false, `{"a":1}`: true, "[]": true} {
			for _, clean := range []bool{true, false} {
				b := overTLS(t, &tls.Config{})
				b.receiver.Next(faultreceiver.Playing("end", func(x *faultreceiver.Exchange) {
					x.ReadAll()
					x.Write(head + body)
					if !clean {
						x.CutTLS()
					}
				}))
				o := b.client.Call(t.Context(), b.call(t, "POST"))
				want := request.Unknown
				if clean || itself {
					want = request.Returned
				}
				if o.Certainty != want {
					t.Errorf("%q%q, clean %t: got %+v", head, body, clean, o)
				}
				if text := strings.TrimSpace(body); want == request.Returned && text != "" && o.Body.Raw() != text {
					t.Errorf("%q: got %q", body, o.Body.Raw())
				}
			}
		}
	}
}

// TestAReceiverThatWantsAClientCertificateIsSaidTo: in TLS 1.2 the handshake fails; in 1.3
// its alert comes instead of an answer, and says that the handshake never ended.
func TestAReceiverThatWantsAClientCertificateIsSaidTo(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		b := overTLS(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: version})
		for range 2 {
			o := b.client.Call(t.Context(), b.call(t, "POST"))
			if o.Certainty != request.NotSent || o.Cause != string(errCertificateWanted) || o.Response != nil {
				t.Errorf("TLS %x: got %+v", version, o)
			}
		}
		if h := b.client.Health(t.Context(), "acme", ours, b.project); h.Healthy || h.Error != string(errCertificateWanted) {
			t.Errorf("TLS %x: %+v", version, h)
		}
		if got := b.delivered(t); len(got) != 0 {
			t.Errorf("TLS %x: the receiver read %q", version, got)
		}
	}
}

// TestAReceiverThatOnlyAsksMayHaveRead: it let the handshake end without a certificate, and
// may have read what it never answered.
func TestAReceiverThatOnlyAsksMayHaveRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"close-after-body", "reset-after-body"} {
		b := overTLS(t, &tls.Config{ClientAuth: tls.RequestClientCert})
		b.receiver.Next(faultreceiver.Named(name))
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Unknown || o.Cause != string(errEndedAsking) {
			t.Errorf("%s: got %+v", name, o)
		}
		b.warm(t)
		b.receiver.Next(faultreceiver.Named(name))
		o = b.client.Call(t.Context(), b.call(t, "POST"))
		if o.Certainty != request.Unknown || o.Cause == string(errEndedAsking) {
			t.Errorf("%s: a connection that was answered on has nothing to do with certificates: %+v", name, o)
		}
	}
}

// TestAnAlertOfTheHandshakeProvesNothingLater, nor another alert at once: only TLS 1.3's
// certificate_required on a connection without any exchange does.
func TestAnAlertOfTheHandshakeProvesNothingLater(t *testing.T) {
	t.Parallel()
	ended := answer{sent: true, unheard: true, err: &net.OpError{Op: "remote error", Err: errCertificateRequired}}
	c := newConn(&wire{asked: true}, nil)
	if got := c.withoutCertificate(ended); !got.sent || !errors.Is(got.err, errEndedAsking) {
		t.Errorf("without TLS: %+v", got)
	}
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	cert, roots := selfSigned(t, "127.0.0.1", time.Now().Add(time.Hour))
	go func() {
		_ = tls.Server(theirs, &tls.Config{Certificates: []tls.Certificate{cert}}).HandshakeContext(context.Background())
	}()
	secured := tls.Client(ours, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13})
	if err := secured.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	c = newConn(&wire{Conn: ours, asked: true}, secured)
	defer c.close()
	if got := c.withoutCertificate(ended); got.sent {
		t.Errorf("the handshake was refused: %+v", got)
	}
	for _, other := range []tls.AlertError{0, 42, 48, 49, 80} {
		ended.err = &net.OpError{Op: "remote error", Err: other}
		if got := c.withoutCertificate(ended); !got.sent {
			t.Errorf("alert %d counts as not sent", other)
		}
	}
	ended.err = &net.OpError{Op: "local error", Err: errCertificateRequired}
	if got := c.withoutCertificate(ended); !got.sent {
		t.Error("our own alert counts as the receiver's")
	}
}
