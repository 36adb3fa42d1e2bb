package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign/internal/tools/cli"
)

// doctorCommand checks everything that a service needs, with the settings that serve would have,
// and changes nothing.
type doctorCommand struct {
	settings
	All bool `help:"Read every page of the store and every record of the audit logs, however long that takes."`
	cli.Output
}

// Help explains when to use the command.
func (doctorCommand) Help() string {
	return "Run it with the environment of the service, beside it or before its first start. The status is 1 when something is broken. It reads the store as a start does, and the last 10,000 records of each kind and audit log."
}

// The states of a finding.
const (
	findingOK      = "ok"
	findingWarning = "warning"
	findingBroken  = "BROKEN"
)

// finding is the result of one check, and what to do about it.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Seen  string `json:"seen"`
	Do    string `json:"do,omitempty"`
}

func fine(check, format string, args ...any) finding {
	return finding{Check: check, State: findingOK, Seen: fmt.Sprintf(format, args...)}
}

func warn(check, do, format string, args ...any) finding {
	return finding{Check: check, State: findingWarning, Seen: fmt.Sprintf(format, args...), Do: do}
}

func bad(check, do, format string, args ...any) finding {
	return finding{Check: check, State: findingBroken, Seen: fmt.Sprintf(format, args...), Do: do}
}

// Run makes the checks and prints the findings.
func (c *doctorCommand) Run(t *cli.Terminal) error {
	found := examine(t.Context, c.settings, t.Environ, c.All)
	err := c.Print(t, found, func(w io.Writer) {
		rows := [][]string{}
		for _, f := range found {
			rows = append(rows, []string{f.Check, f.State, f.Seen})
		}
		cli.Table(w, []string{"check", "state", "seen"}, rows)
		for _, f := range found {
			if f.Do != "" {
				fmt.Fprintf(w, "%s: %s\n", f.Check, cli.Plain(f.Do))
			}
		}
	})
	for _, f := range found {
		if err == nil && f.State == findingBroken {
			err = cli.StatusError{Status: cli.ExitFailed}
		}
	}
	return err
}

// examine makes the checks in the order in which a start would fail.
func examine(ctx context.Context, s settings, environ []string, all bool) []finding {
	cfg, err := understand(s, environ)
	var unusable cli.UnusableError
	if errors.As(err, &unusable) {
		var found []finding
		for _, line := range unusable.Lines {
			found = append(found, bad("settings", "correct it; 'countersign serve --help' lists the settings", "%s", line))
		}
		return found
	}
	found := []finding{fine("settings", "understood")}
	for _, warning := range cfg.Warnings {
		found = append(found, warn("settings", "remove it", "%s", warning))
	}
	found = append(found, checkStore(ctx, cfg, all)...)
	for _, check := range []func(context.Context, config) []finding{
		checkSpace, checkArchive, checkKept, checkService, checkAddress, checkCertificate, checkCredentials, checkOwners, checkUpgrade, checkAnswerKeys, checkWitnesses, checkTokens, checkAddresses, checkOrigins, checkMail, checkSlack, checkProvider, checkIssuers,
	} {
		found = append(found, check(ctx, cfg)...)
	}
	return found
}
