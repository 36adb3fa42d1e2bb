// Package mail sends short plain-text mails through the operator's mail server: sign-in
// codes and notices. The callers write the texts.
package mail

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"
)

// Bounds for one mail.
const (
	dialTimeout = 10 * time.Second
	sendTimeout = 25 * time.Second
)

// Server is the mail server of the settings. Each mail uses its own connection: mails are
// few, and servers close idle connections.
type Server struct {
	host           string
	port           int
	implicit       bool // TLS from the first byte (smtps)
	loopback       bool // the server is on this machine: unencrypted SMTP is allowed
	user, password string
	from           string

	roots *x509.CertPool // nil: the roots of the system
}

// From is the sender's address.
func (s *Server) From() string { return s.from }

// Send sends one mail. It fails if it would have to send a password or the text
// unencrypted, unless the server is on this machine. Errors never contain the password.
func (s *Server) Send(ctx context.Context, to, subject, text string) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	msg, err := s.compose(to, subject, text)
	if err != nil {
		return err
	}
	line := &line{server: s, whole: ctx}
	defer line.close()
	client, err := s.client(line.dial)
	if err != nil {
		return s.redacted(err)
	}
	return s.redacted(client.DialAndSendWithContext(ctx, msg))
}

// Reach connects and signs in as Send does, but sends no mail.
func (s *Server) Reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	line := &line{server: s, whole: ctx}
	defer line.close()
	client, err := s.client(line.dial)
	if err == nil {
		err = client.DialWithContext(ctx)
	}
	if err == nil {
		err = client.Close()
	}
	return s.redacted(err)
}

// compose makes the message. Line breaks are refused in an address and removed from a
// subject, so that no text can add a header.
func (s *Server) compose(to, subject, text string) (*gomail.Msg, error) {
	if parsed, err := mail.ParseAddress(to); err != nil || parsed.Address != to || strings.ContainsFunc(to, unicode.IsControl) {
		return nil, errors.New("mail: the recipient is no e-mail address")
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(s.from), msg.To(to)); err != nil {
		return nil, errors.New("mail: the sender or the recipient is no e-mail address")
	}
	msg.Subject(strings.Map(oneLine, subject))
	msg.SetDate()
	_, domain, _ := strings.Cut(s.from, "@")
	msg.SetMessageIDWithValue(rand.Text() + "@" + domain) // instead of this machine's name
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(gomail.TypeTextPlain, text)
	return msg, nil
}

func oneLine(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

func (s *Server) tls() *tls.Config {
	return &tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}
}

func (s *Server) client(dial gomail.DialContextFunc) (*gomail.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.port), gomail.WithTimeout(dialTimeout), gomail.WithTLSConfig(s.tls()), gomail.WithDialContextFunc(dial),
	}
	switch {
	case s.implicit:
		options = append(options, gomail.WithSSL())
	case s.loopback:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		options = append(options, gomail.WithUsername(s.user), gomail.WithPassword(s.password), s.mechanisms())
	}
	return gomail.NewClient(s.host, options...)
}

// mechanisms are the ways to authenticate, best first. A password is sent only over TLS or
// to a server on this machine.
func (s *Server) mechanisms() gomail.Option {
	if s.loopback && !s.implicit {
		return gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc)
	}
	return gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin)
}

// maxError bounds what a mail server may write into the log.
const maxError = 300

// redacted removes the password from an error, in every encoding in which the server may
// have repeated it.
func (s *Server) redacted(err error) error {
	if err == nil {
		return nil
	}
	text := strings.Map(oneLine, err.Error())
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "…"
	}
	return fmt.Errorf("mail to %s:%d: %s", s.host, s.port, text)
}

// secrets are the encodings of the password on the wire.
func (s *Server) secrets() []string {
	if s.password == "" {
		return nil
	}
	encoded := base64.StdEncoding.EncodeToString
	return []string{encoded([]byte("\x00" + s.user + "\x00" + s.password)), encoded([]byte(s.password)), s.password}
}
