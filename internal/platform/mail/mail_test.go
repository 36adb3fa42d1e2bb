package mail_test

import (
	"context"
	"encoding/base64"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/mail"
	"github.com/countersign/countersign/internal/testing/mailtest"
)

const password = "s3cret/pass word"

// at returns a client of a test's mail server.
func at(t *testing.T, scheme string, o *mailtest.Server, user string) *mail.Server {
	t.Helper()
	s, err := mail.Parse(scheme+"://"+user+o.Address()+"?from=countersign@example.com", "")
	if err != nil {
		t.Fatal(err)
	}
	return s.Trusting(o.Roots)
}

const login = "ada%40example.com:s3cret%2Fpass%20word@"

func send(t *testing.T, s *mail.Server, to, subject, text string) error {
	t.Helper()
	return s.Send(t.Context(), to, subject, text)
}

func TestAMailArrivesAsItWasWritten(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, false)
	if err := send(t, at(t, "smtp", o, ""), "ben@example.com", "Your Countersign code", "Your sign-in code is 12345678.\n.\nThat was a dot.\n"); err != nil {
		t.Fatal(err)
	}
	mails := o.Received()
	if len(mails) != 1 {
		t.Fatalf("%d mails", len(mails))
	}
	for _, part := range []string{"From: <countersign@example.com>", "To: <ben@example.com>", "Subject: Your Countersign code", "Auto-Submitted: auto-generated", "@example.com>", "12345678", "That was a dot."} {
		if !strings.Contains(mails[0], part) {
			t.Errorf("%q is missing in\n%s", part, mails[0])
		}
	}
}

func TestBeyondThisMachineNothingIsSentInTheClear(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, false, "AUTH PLAIN LOGIN")
	s := at(t, "smtp", o, login).Remote()
	if err := send(t, s, "ben@example.com", "s", "t"); err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("a server without STARTTLS: %v", err)
	}
	if said := o.Said(false); strings.Contains(said, "AUTH") || strings.Contains(said, "MAIL") || len(o.Received()) > 0 {
		t.Errorf("something of worth was said in the clear:\n%s", said)
	}
}

func TestSTARTTLSComesBeforeThePassword(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, false, "STARTTLS", "AUTH PLAIN")
	if err := send(t, at(t, "smtp", o, login).Remote(), "ben@example.com", "s", "t"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(o.Said(false), "AUTH") || !strings.Contains(o.Said(true), "AUTH PLAIN "+encoded("\x00ada@example.com\x00"+password)) {
		t.Errorf("in the clear:\n%s\nbelow TLS:\n%s", o.Said(false), o.Said(true))
	}
}

func TestSMTPSSpeaksTLSFromTheFirstByte(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, true, "AUTH PLAIN")
	if err := send(t, at(t, "smtps", o, login).Remote(), "ben@example.com", "s", "t"); err != nil {
		t.Fatal(err)
	}
	if o.Said(false) != "" || len(o.Received()) != 1 {
		t.Errorf("in the clear: %q; %d mails", o.Said(false), len(o.Received()))
	}
}

func TestACertificateThatNobodySignedIsRefused(t *testing.T) {
	t.Parallel()
	for scheme, implicit := range map[string]bool{"smtp": false, "smtps": true} {
		o := mailtest.Open(t, implicit, "STARTTLS", "AUTH PLAIN")
		s := at(t, scheme, o, login).Trusting(nil).Remote()
		if err := send(t, s, "ben@example.com", "s", "t"); err == nil {
			t.Errorf("%s: sent", scheme)
		}
		if strings.Contains(o.Said(true)+o.Said(false), "AUTH") {
			t.Errorf("%s: the password was sent", scheme)
		}
	}
}

func TestNoTextBecomesAHeader(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, false)
	s := at(t, "smtp", o, "")
	for _, to := range []string{"ben@example.com\r\nBcc: eve@example.com", "ben@example.com\nBcc: eve@example.com", "ben@example.com>\r\nRCPT TO:<eve@example.com", "Ben <ben@example.com>", "ben", ""} {
		if err := send(t, s, to, "s", "t"); err == nil {
			t.Errorf("%q was taken for an address", to)
		}
	}
	if err := send(t, s, "ben@example.com", "one\r\nBcc: eve@example.com\r\n\r\nbody", "Bcc: eve@example.com\n"); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(o.Received()[0], "\r\n\r\n")
	for _, line := range strings.Split(head, "\r\n") {
		if strings.HasPrefix(line, "Bcc") {
			t.Errorf("a header was made of a subject:\n%s", head)
		}
	}
	if said := o.Said(false); strings.Contains(said, "eve@") || strings.Count(said, "RCPT") != 1 {
		t.Errorf("somebody else got it:\n%s", said)
	}
}

func TestErrorsHoldNoPassword(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, false, "AUTH PLAIN LOGIN")
	plain := encoded("\x00ada@example.com\x00" + password)
	o.Refuses = "535 5.7.8 " + plain + " and " + password + " and " + encoded(password) + " are wrong " + strings.Repeat("x", 5000)
	err := send(t, at(t, "smtp", o, login), "ben@example.com", "s", "t")
	if err == nil {
		t.Fatal("the refusal was not noticed")
	}
	for _, secret := range []string{password, plain, encoded(password)} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q is in %v", secret, err)
		}
	}
	if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("the server wrote as much as it liked: %d bytes", len(err.Error()))
	}
}

func TestAMailServerThatSaysNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	s, err := mail.Parse("smtp://"+listener.Addr().String()+"?from=a@example.com", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Send(ctx, "ben@example.com", "s", "t") }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it was sent")
		}
	case <-time.After(5 * time.Minute):
		t.Error("the server is still waited for, after 5 minutes")
	}
}

func TestAddressesOfMailServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, admin, from, wrong string }{
		{"smtp://mail.example.com?from=a@example.com", "", "a@example.com", ""},
		{"smtp://ada%40example.com:secret@mail.example.com:2525", "", "ada@example.com", ""},
		{"smtps://ada:secret@mail.example.com/", "root@example.com", "root@example.com", ""},
		{"smtps://[::1]:465/?from=a@example.com", "", "a@example.com", ""},
		{"smtp://ada:secret@mail.example.com", "", "", "from="},
		{"smtp://ada@mail.example.com?from=a@example.com", "", "", "go together"},
		{"smtp://:secret@mail.example.com?from=a@example.com", "", "", "go together"},
		{"http://mail.example.com", "a@example.com", "", "smtp://"},
		{"mail.example.com:587", "a@example.com", "", "smtp://"},
		{"smtp://mail.example.com:port?from=a@example.com", "", "", "address"},
		{"smtp://mail.example.com:70000?from=a@example.com", "", "", "port"},
		{"smtp://mail.example.com/x?from=a@example.com", "", "", "end after"},
		{"smtp://mail.example.com?from=a", "", "", "from"},
		{"smtp://mail.example.com?form=a@example.com", "", "", "only parameter"},
		{"smtp://mail.example.com?from=a@example.com&from=b@example.com", "", "", "several"},
		{"smtp://ada:secret%zz@mail.example.com", "a@example.com", "", "address"},
		{"smtp://ada:sec/ret@mail.example.com", "a@example.com", "", ""},
	} {
		s, err := mail.Parse(c.address, c.admin)
		switch {
		case err != nil && (strings.Contains(err.Error(), "sec") || strings.ContainsAny(err.Error(), "\n")):
			t.Errorf("%s: %v", c.address, err)
		case c.from != "" && (err != nil || s.From() != c.from):
			t.Errorf("%s: %v", c.address, err)
		case c.from == "" && err == nil, c.wrong != "" && !strings.Contains(err.Error(), c.wrong):
			t.Errorf("%s: %v; expected %q", c.address, err, c.wrong)
		}
	}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
