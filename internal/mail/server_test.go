package mail_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// postOffice is a mail server on loopback, as small as one can be.
type postOffice struct {
	offers   []string // extensions
	refuses  string   // the answer to AUTH, "" accepts
	implicit bool
	pair     tls.Certificate
	roots    *x509.CertPool

	listener net.Listener
	mu       sync.Mutex
	lines    []string // everything that was said in the clear
	secured  []string // and below TLS
	mails    []string
}

func openOffice(t *testing.T, implicit bool, offers ...string) *postOffice {
	t.Helper()
	o := &postOffice{offers: offers, implicit: implicit}
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

func (o *postOffice) certify(t *testing.T) {
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
	o.roots = x509.NewCertPool()
	o.roots.AddCert(certificate)
}

func (o *postOffice) address() string { return o.listener.Addr().String() }

func (o *postOffice) said(secured bool) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if secured {
		return strings.Join(o.secured, "\n")
	}
	return strings.Join(o.lines, "\n")
}

func (o *postOffice) received() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string{}, o.mails...)
}

func (o *postOffice) serve(c net.Conn) {
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
			if o.refuses != "" {
				say(o.refuses)
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

func (o *postOffice) note(secured bool, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if secured {
		o.secured = append(o.secured, line)
	} else {
		o.lines = append(o.lines, line)
	}
}

func (o *postOffice) take(in *bufio.Reader) {
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

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
