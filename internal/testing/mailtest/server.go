// Package mailtest is a mail server for tests: it listens on loopback, speaks the necessary part of
// SMTP, and records what it received.
package mailtest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a mail server on loopback.
type Server struct {
	Refuses string         // the answer to AUTH, "" accepts
	Roots   *x509.CertPool // the roots that verify its certificate

	offers   []string // extensions
	implicit bool
	pair     tls.Certificate

	listener net.Listener
	mu       sync.Mutex
	lines    []string // lines received without TLS
	secured  []string // lines received over TLS
	mails    []string
}

// Open starts a server that uses TLS from the first byte, or one that offers these extensions.
func Open(t testing.TB, implicit bool, offers ...string) *Server {
	t.Helper()
	o := &Server{offers: offers, implicit: implicit}
	o.certify(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.listener = listener
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	return o
}

func (o *Server) certify(t testing.TB) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	o.pair = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	o.Roots = x509.NewCertPool()
	o.Roots.AddCert(certificate)
}

// Address is the listening address.
func (o *Server) Address() string { return o.listener.Addr().String() }

// Said returns the lines that the server received over TLS, or without it.
func (o *Server) Said(secured bool) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if secured {
		return strings.Join(o.secured, "\n")
	}
	return strings.Join(o.lines, "\n")
}

// Received returns the accepted mails.
func (o *Server) Received() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string{}, o.mails...)
}

func (o *Server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	secured := o.implicit
	if secured {
		c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{o.pair}})
	}
	in := bufio.NewReader(c)
	say := func(text string) { _, _ = c.Write([]byte(text + "\r\n")) }
	say("220 office ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		o.note(secured, line)
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "EHLO":
			say("250-office")
			for _, e := range o.offers {
				say("250-" + e)
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go on")
			c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{o.pair}})
			in, secured = bufio.NewReader(c), true
		case "AUTH":
			if o.Refuses != "" {
				say(o.Refuses)
				continue
			}
			say("235 welcome")
		case "DATA":
			say("354 go on")
			o.take(in)
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 OK")
		}
	}
}

func (o *Server) note(secured bool, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if secured {
		o.secured = append(o.secured, line)
	} else {
		o.lines = append(o.lines, line)
	}
}

func (o *Server) take(in *bufio.Reader) {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mails = append(o.mails, b.String())
}
