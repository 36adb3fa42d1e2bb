package cli

import (
	"io"

	"github.com/schollz/progressbar/v3"

	"github.com/countersign/countersign/internal/tools/cli/evidence"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// What the program's own commands, such as serve and backup, have in common with those of the client.

// Terminal is a command's access to its process.
type Terminal = terminal.Terminal

// Output is the flag of every command that prints an answer.
type Output = terminal.Output

// Exit statuses, for scripts and CI.
const (
	ExitOK       = terminal.ExitOK
	ExitFailed   = terminal.ExitFailed
	ExitUnusable = terminal.ExitUnusable
)

// UnusableError is an error in settings, arguments or files.
type UnusableError = terminal.UnusableError

// RefusedError says why a store refuses what was asked.
type RefusedError = terminal.RefusedError

// StatusError ends a command that did its work and has printed a negative result.
type StatusError = terminal.StatusError

// Unusablef is an [UnusableError] of one line.
func Unusablef(format string, args ...any) UnusableError { return terminal.Unusablef(format, args...) }

// Report prints an error and returns its exit status.
func Report(errs io.Writer, err error) int { return terminal.Report(errs, err) }

// Table writes rows under a heading.
func Table(w io.Writer, heading []string, rows [][]string) { terminal.Table(w, heading, rows) }

// Facts writes names and values, one pair a line.
func Facts(w io.Writer, pairs ...[2]string) { terminal.Facts(w, pairs...) }

// Plain is untrusted text on one line.
func Plain(text string) string { return words.Plain(text) }

// Watched reports whether w is a terminal.
func Watched(w io.Writer) bool { return terminal.Watched(w) }

// NewBar makes a progress bar, nil if standard error is no terminal.
func NewBar(t *Terminal, what string, options ...progressbar.Option) *terminal.Bar {
	return terminal.NewBar(t, what, options...)
}

// Audit is the commands on the audit log, to which the program adds one on the store.
type Audit = evidence.Audit

// Receipt is the commands on receipts, likewise.
type Receipt = evidence.Receipt
