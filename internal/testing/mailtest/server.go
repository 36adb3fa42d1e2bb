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

func (s *Server) certify(t testing.TB) {
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
	s.pair = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s.Roots = x509.NewCertPool()
	s.Roots.AddCert(certificate)
}

// Address is the listening address.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Said returns the lines that the server received over TLS, or without it.
func (s *Server) Said(secured bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secured {
		return strings.Join(s.secured, "\n")
	}
	return strings.Join(s.lines, "\n")
}

// Received returns the accepted mails.
func (s *Server) Received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.mails...)
}

func (s *Server) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	secured := s.implicit
	if secured {
		c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{s.pair}})
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
		s.note(secured, line)
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "EHLO":
			say("250-office")
			for _, e := range s.offers {
				say("250-" + e)
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go on")
			c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{s.pair}})
			in, secured = bufio.NewReader(c), true
		case "AUTH":
			if s.Refuses != "" {
				say(s.Refuses)
				continue
			}
			say("235 welcome")
		case "DATA":
			say("354 go on")
			s.take(in)
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 OK")
		}
	}
}

func (s *Server) note(secured bool, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secured {
		s.secured = append(s.secured, line)
	} else {
		s.lines = append(s.lines, line)
	}
}

func (s *Server) take(in *bufio.Reader) {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, b.String())
}
