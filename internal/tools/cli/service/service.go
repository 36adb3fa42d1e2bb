// Package service reaches the service that a command asks: its address and token, kept sign-ins, and
// the verbs that do the same with records of each kind.
package service

import (
	"os"
	"strings"

	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// defaultURL is where a service is that was started without settings.
const defaultURL = "http://127.0.0.1:8080"

// Connection is the flags of every command that talks to a service. The token has no flag,
// since the list of processes would show it.
type Connection struct {
	URL      string `group:"Connection" help:"Address of the service; else COUNTERSIGN_URL, the profile's, or http://127.0.0.1:8080." placeholder:"URL"`
	Profile  string `group:"Connection" help:"Whose sign-in to use, of those that 'countersign login' keeps; else COUNTERSIGN_PROFILE or the current one." placeholder:"NAME"`
	Insecure bool   `group:"Connection" help:"Let the token travel readable: http to another machine."`
}

// Asking is the flags of a command that calls a service and prints its answer.
type Asking struct {
	terminal.Output
	Connection
}

// Client makes a client from the flags, the environment and the profile, in this order. A
// profile's token is sent only to the profile's address.
func (s Connection) Client(t *terminal.Terminal) (*client.Client, error) { return s.ClientAs(t, "") }

// ClientAs is Client with this token in place of the one that the caller has, unless it is "".
func (s Connection) ClientAs(t *terminal.Terminal, other string) (*client.Client, error) {
	p, address, err := s.Chosen(t)
	if err != nil {
		return nil, err
	}
	token, err := TokenOf(t)
	if err != nil {
		return nil, err
	}
	if token == "" && sameAddress(address, p.URL) {
		token = p.Token
	}
	return Connect(address, words.First(other, token), s.Insecure || p.Insecure && sameAddress(address, p.URL))
}

// Chosen is the profile in use, an empty one where there is none, and the service's address.
func (s Connection) Chosen(t *terminal.Terminal) (p Profile, address string, err error) {
	kept, err := ReadProfiles(t)
	if err != nil {
		return p, "", err
	}
	name := words.First(s.Profile, t.Getenv(terminal.EnvProfile), kept.Current)
	p, known := kept.Profiles[name]
	if !known && words.First(s.Profile, t.Getenv(terminal.EnvProfile)) != "" {
		return p, "", terminal.Unusablef("there is no profile %s; 'countersign login URL --profile %s' makes it", name, name)
	}
	return p, words.First(s.URL, t.Getenv(terminal.EnvURL), p.URL, defaultURL), nil
}

// Connect makes a client of the service at an address.
func Connect(address, token string, insecure bool) (*client.Client, error) {
	c, err := client.New(client.Config{BaseURL: address, Token: token, AllowInsecure: insecure, UserAgent: "countersign-cli/" + client.Version})
	if err != nil {
		return nil, terminal.Unusablef("%v", err)
	}
	return c, nil
}

// TokenOf is the token in the environment, or in the file that the environment names. The
// file is read at each use, since a secret store may replace it.
func TokenOf(t *terminal.Terminal) (string, error) {
	if token := t.Getenv(terminal.EnvToken); token != "" {
		return token, nil
	}
	path := t.Getenv(terminal.EnvTokenFile)
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", terminal.Unusablef("%s: %v", terminal.EnvTokenFile, err)
	}
	return strings.TrimSpace(string(text)), nil
}

func sameAddress(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }
