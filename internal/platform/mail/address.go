package mail

import (
	"errors"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// The default ports of the two schemes.
const (
	submissionPort  = 587
	submissionsPort = 465
)

// Parse parses the address of a mail server. smtps://… uses TLS from the first byte;
// smtp://… begins unencrypted and must switch to TLS by STARTTLS before a password or text
// is sent, except on this machine. The sender is the parameter `from`, else the user if it
// is an e-mail address, else admin. Errors have one line and never contain the address,
// since it may contain a password.
func Parse(address, admin string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return nil, errors.New("it is no address such as smtp://user:password@mail.example.com:587; in user and password write @ : / ? # % as %40 %3A %2F %3F %23 %25")
	}
	s := &Server{host: u.Hostname(), loopback: isLoopback(u.Hostname()), port: submissionPort}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		s.implicit, s.port = true, submissionsPort
	default:
		return nil, errors.New("it must begin with smtp:// or smtps://")
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return nil, errors.New("it must end after the host and port, with ?from=… at most")
	}
	if err := s.setPort(u.Port()); err != nil {
		return nil, err
	}
	if err := s.setUser(u.User); err != nil {
		return nil, err
	}
	return s, s.setFrom(u.RawQuery, admin)
}

func (s *Server) setPort(port string) error {
	if port == "" {
		return nil
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return errors.New("its port is no number from 1 to 65535")
	}
	s.port = n
	return nil
}

func (s *Server) setUser(u *url.Userinfo) error {
	if u == nil {
		return nil
	}
	password, has := u.Password()
	if u.Username() == "" || !has || password == "" {
		return errors.New("a user and a password go together")
	}
	s.user, s.password = u.Username(), password
	return nil
}

func (s *Server) setFrom(query, admin string) error {
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the ? can't be read")
	}
	for name := range parameters {
		if name != "from" {
			return errors.New("the only parameter that it may have is from")
		}
	}
	switch given := parameters["from"]; {
	case len(given) > 1:
		return errors.New("it has several from parameters")
	case len(given) == 1 && !isAddress(given[0]):
		return errors.New("its from parameter is no e-mail address")
	case len(given) == 1:
		s.from = given[0]
	case isAddress(s.user):
		s.from = s.user
	case isAddress(admin):
		s.from = admin
	default:
		return errors.New("say who mails come from: add ?from=countersign@example.com")
	}
	return nil
}

func isAddress(text string) bool {
	parsed, err := mail.ParseAddress(text)
	return err == nil && parsed.Address == text && !strings.ContainsAny(text, " \r\n")
}

// isLoopback reports whether host is this machine. Only literal addresses and localhost
// count, since the address that another name resolves to may change.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
