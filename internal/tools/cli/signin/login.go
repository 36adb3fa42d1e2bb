// Package signin has the commands that keep, choose and forget a sign-in.
package signin

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Login is the command `login`: it stores a token that the service has accepted.
type Login struct {
	Address  string `arg:"" optional:"" default:"http://127.0.0.1:8080" name:"url" help:"Address of the service."`
	Profile  string `default:"default" help:"Name to keep the sign-in under."`
	Insecure bool   `help:"Let the token travel readable: http to another machine."`
}

// Help explains more than the flags do.
func (Login) Help() string {
	return "The token is asked for without showing it, or read from standard input or COUNTERSIGN_TOKEN. An administrator makes one on the console's page Tokens, or with 'countersign tokens create'. It is kept in a file that only you can read."
}

// Run calls the service before it stores anything.
func (l *Login) Run(t *terminal.Terminal) error {
	token, err := service.TokenOf(t)
	if err == nil && token == "" {
		token, err = askToken(t)
	}
	if err != nil {
		return err
	}
	c, err := service.Connect(l.Address, token, l.Insecure)
	if err != nil {
		return err
	}
	if _, err := c.Runs(t.Context, client.RunFilter{Paging: client.Paging{Limit: 1}}); err != nil {
		return err
	}
	kept, err := service.ReadProfiles(t)
	if err != nil {
		return err
	}
	kept.Current, kept.Profiles[l.Profile] = l.Profile, service.Profile{URL: l.Address, Token: token, Insecure: l.Insecure}
	if err := kept.Write(t); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "signed in to %s as profile %s\n", l.Address, l.Profile)
	return nil
}

// askToken reads one line, without echo on a terminal.
func askToken(t *terminal.Terminal) (string, error) {
	if f, ok := t.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return terminal.AskSecret(t, f, "Token: ")
	}
	const longest = 4096
	line, err := bufio.NewReader(io.LimitReader(t.In, longest)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		return "", terminal.Unusablef("no token came on standard input (%v); pipe it in, or set %s", err, terminal.EnvToken)
	}
	return line, nil
}

// Logout is the command `logout`: it removes a stored sign-in. The token stays valid until an
// administrator revokes it.
type Logout struct {
	Profile string `arg:"" optional:"" help:"Which one; default: the current."`
}

// Run removes the sign-in.
func (l *Logout) Run(t *terminal.Terminal) error {
	kept, err := service.ReadProfiles(t)
	if err != nil {
		return err
	}
	name := words.First(l.Profile, kept.Current)
	if _, known := kept.Profiles[name]; !known {
		return terminal.Unusablef("there is no profile %q", name)
	}
	delete(kept.Profiles, name)
	if kept.Current == name {
		kept.Current = ""
	}
	fmt.Fprintf(t.Out, "removed the sign-in %s; its token stays valid until it is revoked\n", name)
	return kept.Write(t)
}

// Profiles is the command `profiles`: it lists the sign-ins, or selects the current one.
type Profiles struct {
	Use string `arg:"" optional:"" help:"Make this one the current."`
	terminal.Output
}

// shownProfile is a sign-in without its token.
type shownProfile struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
}

// Run lists or selects.
func (p *Profiles) Run(t *terminal.Terminal) error {
	kept, err := service.ReadProfiles(t)
	if err != nil {
		return err
	}
	if p.Use != "" {
		if _, known := kept.Profiles[p.Use]; !known {
			return terminal.Unusablef("there is no profile %q", p.Use)
		}
		kept.Current = p.Use
		if err := kept.Write(t); err != nil {
			return err
		}
	}
	list := []shownProfile{}
	for _, name := range slices.Sorted(maps.Keys(kept.Profiles)) {
		list = append(list, shownProfile{Name: name, URL: kept.Profiles[name].URL, Current: name == kept.Current})
	}
	return p.Print(t, list, func(w io.Writer) {
		rows := [][]string{}
		for _, s := range list {
			rows = append(rows, []string{s.Name, s.URL, words.Yes(s.Current)})
		}
		terminal.Table(w, []string{"name", "address", "current"}, rows)
	})
}
