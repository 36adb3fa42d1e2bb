package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/tools/cli"
)

// checkCommand checks the form of a token.
type checkCommand struct {
	Token string `arg:"" optional:"" help:"The string; default: one line of standard input, where no list of processes shows it."`
}

// Help explains what the answer means.
func (checkCommand) Help() string {
	return "For secret scanners, whose rule is \\bcsn_[0-9A-Za-z]{49}\\b: the last six characters are a checksum, which about one in 56 billion strings of this shape has by chance. Nothing is asked of a service. Exit status 1 where it is no token; a token that was revoked or never issued here is well-formed too."
}

// Run verifies the checksum. It never prints the token.
func (c *checkCommand) Run(t *cli.Terminal) error {
	token := c.Token
	if token == "" {
		const longest = 4096
		line, err := bufio.NewReader(io.LimitReader(t.In, longest)).ReadString('\n')
		if token = strings.TrimSpace(line); token == "" {
			return cli.Unusablef("no token came on standard input (%v); pipe it in, or give it as an argument", err)
		}
	}
	if !access.WellFormed(token) {
		fmt.Fprintln(t.Out, "no token: its prefix, length, characters or checksum are wrong")
		return cli.StatusError{Status: cli.ExitFailed}
	}
	fmt.Fprintln(t.Out, "a well-formed token: revoke it where it leaked")
	return nil
}
