package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// files are the paths of certificate and key; each is replaced as by a renewal.
type files struct{ cert, key string }

func (f files) issue(t *testing.T, serial int64) {
	t.Helper()
	f.issueUntil(t, serial, time.Now().Add(time.Hour))
}

func (f files) issueUntil(t *testing.T, serial int64, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: until, DNSNames: []string{"localhost"}}
	cert, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, f.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	replace(t, f.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// serial is the serial number of the certificate that a new connection gets.
func serial(t *testing.T, c *certificate) int64 {
	t.Helper()
	here, there := net.Pipe()
	server := tls.Server(there, &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12})
	ended := make(chan error, 1)
	go func() { ended <- server.Handshake() }()
	shown := tls.Client(here, &tls.Config{InsecureSkipVerify: true}) // the test asks which certificate is served, not whether it is trusted
	if err := shown.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = here.Close(), there.Close() }()
	return shown.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestCertificateIsRenewedWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	f := files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	f.issue(t, 1)
	var said strings.Builder
	c, err := loadCertificate(f.cert, f.key, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	show := func(want int64, when string) {
		t.Helper()
		if got := serial(t, c); got != want {
			t.Errorf("%s: certificate %d is shown, not %d", when, got, want)
		}
	}
	show(1, "at the start")
	f.issue(t, 2)
	show(2, "renewed")

	replace(t, f.cert, []byte("half of a"))
	show(2, "while the files don't fit")
	show(2, "and still")
	if n := strings.Count(said.String(), "can't be used"); n != 1 {
		t.Errorf("it is said %d times that the files can't be used:\n%s", n, said.String())
	}
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	show(2, "while a file is missing")
	f.issue(t, 3)
	show(3, "renewed at last")
}
