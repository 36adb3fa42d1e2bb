package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// The exit statuses, for scripts and CI (docs/command-line.md).
const (
	ExitOK          = 0
	ExitFailed      = 1   // it ran, and the answer is no: an invalid model, a failed run, a broken log
	ExitUnusable    = 2   // these settings, arguments or files can't be used; nothing was done
	ExitRefused     = 3   // the service refused; its code and message say why
	ExitUnreachable = 4   // no answer, or none that can be read: nothing is known of what was asked
	ExitWaiting     = 5   // a run waits until a person decides, reconciles or lifts a stop
	ExitUnproven    = 6   // what was checked is right, and does not prove what was asked: a filtered export
	ExitInterrupted = 130 // stopped by a signal
)

// UnusableError is an error of settings, arguments or files: one clear line each.
type UnusableError struct{ Lines []string }

func (u UnusableError) Error() string { return fmt.Sprint(u.Lines) }

// Unusablef is an [UnusableError] of one line.
func Unusablef(format string, args ...any) UnusableError {
	return UnusableError{Lines: []string{fmt.Sprintf(format, args...)}}
}

// StatusError ends a command that did its work and whose answer, already printed, is
// no. Status is one of the exit statuses.
type StatusError struct{ Status int }

func (v StatusError) Error() string { return fmt.Sprintf("exit status %d", v.Status) }

// UnreachableError wraps an error after which nothing is known of what was asked.
type UnreachableError struct{ Err error }

func (u UnreachableError) Error() string { return u.Err.Error() }
func (u UnreachableError) Unwrap() error { return u.Err }

// Report writes what an error has to say and gives the exit status that it
// means.
func Report(errs io.Writer, err error) int {
	var (
		verdict     StatusError
		unusable    UnusableError
		unreachable UnreachableError
		refused     *countersign.Error
		lost        *client.ConnectionError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &verdict):
		return verdict.Status
	case errors.As(err, &unusable):
		for _, line := range unusable.Lines {
			say(errs, line)
		}
		return ExitUnusable
	case errors.Is(err, context.Canceled):
		say(errs, interruption(err))
		return ExitInterrupted
	}
	say(errs, err.Error())
	switch {
	case errors.Is(err, client.ErrUnauthenticated):
		say(errs, "'countersign login URL' keeps a sign-in; "+envToken+" gives a token for once")
		return ExitRefused
	case errors.As(err, &refused):
		return ExitRefused
	case errors.As(err, &lost):
		say(errs, "is the service there? 'countersign profiles' shows where it is looked for; --url or "+envURL+" says otherwise")
		return ExitUnreachable
	case errors.As(err, &unreachable):
		return ExitUnreachable
	default:
		return ExitFailed
	}
}

// say writes one line, which may hold names from outside.
func say(errs io.Writer, line string) { fmt.Fprintln(errs, "countersign:", Plain(line)) }

// interruption says what is known of what was asked when a signal came.
func interruption(err error) string {
	var lost *client.ConnectionError
	if errors.As(err, &lost) && lost.Method != http.MethodGet {
		return fmt.Sprintf("interrupted; whether %s %s was carried out is not known", lost.Method, lost.Path)
	}
	return "interrupted"
}
