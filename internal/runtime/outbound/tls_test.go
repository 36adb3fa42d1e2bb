package outbound

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// selfSigned makes a certificate for 127.0.0.1, or for another name.
func selfSigned(t *testing.T, name string, expires time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: expires.Add(-48 * time.Hour), NotAfter: expires, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// TestHandshakes: only a certificate that is trusted, valid and of this name lets
// a request out; without one not a byte of it is sent.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, cert string
		expired    bool
		untrusted  bool
		maxVersion uint16
		cause      string
	}{
		{name: "trusted", cert: "127.0.0.1"},
		{name: "TLS 1.2", cert: "127.0.0.1", maxVersion: tls.VersionTLS12},
		{name: "untrusted", cert: "127.0.0.1", untrusted: true, cause: "the receiver's certificate is not trusted"},
		{name: "expired", cert: "127.0.0.1", expired: true, cause: "the receiver's certificate has expired or is not yet valid"},
		{name: "other name", cert: "elsewhere.example", cause: "the receiver's certificate is for another name"},
		{name: "TLS 1.1", cert: "127.0.0.1", maxVersion: tls.VersionTLS11, cause: "the TLS handshake failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expires := time.Now().Add(24 * time.Hour)
			if tt.expired {
				expires = time.Now().Add(-24 * time.Hour)
			}
			cert, roots := selfSigned(t, tt.cert, expires)
			r, err := faultreceiver.StartTLS(&tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS10, MaxVersion: tt.maxVersion})
			if err != nil {
				t.Fatal(err)
			}
			b := setupWith(t, r)
			if !tt.untrusted {
				b.client.dialer.roots = roots
			}
			b.checkTLS(t, tt.cause)
		})
	}
}

func (b bundle) checkTLS(t *testing.T, cause string) {
	t.Helper()
	for range 2 {
		o := b.client.Call(t.Context(), b.call(t, "POST"))
		if cause == "" && o.Certainty != request.Returned || cause != "" && (o.Certainty != request.NotSent || o.Cause != cause) {
			t.Errorf("got %+v, want %q", o, cause)
		}
	}
	got := b.delivered(t)
	if cause == "" && (len(got) != 2 || len(b.receiver.Raw()) != 1) {
		t.Errorf("%d requests over %d connections, want 2 over 1", len(got), len(b.receiver.Raw()))
	}
	if cause != "" && len(got) != 0 {
		t.Errorf("the receiver saw %q", got)
	}
}

// TestFaultsOverTLS: what is counted below TLS is judged like what isn't.
func TestFaultsOverTLS(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"close-after-body", "short-body", "silent", "ok", "503", "trailing-garbage"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, roots := selfSigned(t, "127.0.0.1", time.Now().Add(time.Hour))
			calling := func(timeout time.Duration) (bundle, request.Outcome) {
				r, err := faultreceiver.StartTLS(&tls.Config{Certificates: []tls.Certificate{cert}})
				if err != nil {
					t.Fatal(err)
				}
				b := setupWith(t, r)
				b.client.dialer.roots = roots
				b.warm(t)
				r.Next(faultreceiver.Named(name))
				call := b.call(t, "POST")
				if name == "silent" {
					call.Timeout = timeout
				}
				return b, b.client.Call(t.Context(), call)
			}
			b, o, w := stalling(calling, wants[name])
			checkOutcome(t, o, w)
			if got := b.delivered(t); len(got) != 2 {
				t.Errorf("the receiver saw %q", got)
			}
		})
	}
}

// TestHTTPSToAPlainReceiverIsNotSent: what reaches it is a handshake, not a request.
func TestHTTPSToAPlainReceiverIsNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.project.BaseURL = strings.Replace(b.receiver.URL(), "http:", "https:", 1)
	b.client.origins[b.project.BaseURL] = true
	call := b.call(t, "POST")
	call.Timeout = stallTimes[0] // it waits for a request line that never comes
	o := b.client.Call(t.Context(), call)
	if o.Certainty != request.NotSent {
		t.Errorf("got %+v", o)
	}
	if got := b.delivered(t); len(got) != 0 {
		t.Errorf("the receiver saw %q", got)
	}
}
