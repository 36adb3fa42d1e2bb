package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Exit statuses, for scripts and CI (docs/command-line.md).
const (
	ExitOK          = 0
	ExitFailed      = 1   // the command ran and the result is negative: an invalid model, a failed run, a broken log
	ExitUnusable    = 2   // these settings, arguments or files can't be used; nothing was done
	ExitRefused     = 3   // the service refused, and its code and message give the reason; or the store was copied elsewhere
	ExitUnreachable = 4   // no answer, or an unreadable one: it is not known whether the service did what was asked
	ExitWaiting     = 5   // a run waits for a person to decide, reconcile or lift a stop
	ExitUnproven    = 6   // the data is valid but does not prove what was asked: a filtered export
	ExitUnknown     = 7   // the file is of a format that this release doesn't know: nothing is said of whether it is valid
	ExitInterrupted = 130 // stopped by a signal
)

// UnusableError is an error in settings, arguments or files, with a line for each problem.
type UnusableError struct{ Lines []string }

func (u UnusableError) Error() string { return fmt.Sprint(u.Lines) }

// Unusablef is an [UnusableError] of one line.
func Unusablef(format string, args ...any) UnusableError {
	return UnusableError{Lines: []string{fmt.Sprintf(format, args...)}}
}

// RefusedError says why a store refuses what was asked.
type RefusedError struct{ Reason string }

func (r RefusedError) Error() string { return r.Reason }

// StatusError ends a command that did its work and has printed a negative result. Status is
// one of the exit statuses.
type StatusError struct{ Status int }

func (s StatusError) Error() string { return fmt.Sprintf("exit status %d", s.Status) }

// UnreachableError wraps an error after which it is not known whether the service did what
// was asked.
type UnreachableError struct{ Err error }

func (u UnreachableError) Error() string { return u.Err.Error() }
func (u UnreachableError) Unwrap() error { return u.Err }

// Report prints an error and returns its exit status.
func Report(errs io.Writer, err error) int {
	var (
		verdict     StatusError
		unusable    UnusableError
		unreachable UnreachableError
		refused     *countersign.Error
		lost        *client.ConnectionError
		closed      RefusedError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &verdict):
		return verdict.Status
	case errors.As(err, &unusable):
		for _, line := range unusable.Lines {
			Say(errs, line)
		}
		return ExitUnusable
	case errors.Is(err, context.Canceled):
		Say(errs, interruption(err))
		return ExitInterrupted
	}
	Say(errs, err.Error())
	switch {
	case errors.Is(err, client.ErrUnauthenticated):
		Say(errs, "'countersign login URL' keeps a sign-in; "+EnvToken+" gives a token for once")
		return ExitRefused
	case errors.As(err, &refused), errors.As(err, &closed):
		return ExitRefused
	case errors.As(err, &lost):
		Say(errs, "is the service there? 'countersign profiles' shows where it is looked for; --url or "+EnvURL+" says otherwise")
		return ExitUnreachable
	case errors.As(err, &unreachable):
		return ExitUnreachable
	default:
		return ExitFailed
	}
}

// Say prints one line; names in it are untrusted.
func Say(errs io.Writer, line string) { fmt.Fprintln(errs, "countersign:", words.Plain(line)) }

// interruption explains what is known about the request when a signal ended the command.
func interruption(err error) string {
	var lost *client.ConnectionError
	if errors.As(err, &lost) && lost.Method != http.MethodGet {
		return fmt.Sprintf("interrupted; whether %s %s was carried out is not known", lost.Method, lost.Path)
	}
	return "interrupted"
}

// PlainError is an error's message without its API code.
func PlainError(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// VerdictOf returns the error that gives a negative result its exit status, after the answer
// was printed.
func VerdictOf(good bool, err error) error {
	if err == nil && !good {
		return StatusError{Status: ExitFailed}
	}
	return err
}
