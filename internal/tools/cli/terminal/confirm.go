package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// errNotConfirmed ends a command whose question was not answered with the required word.
var errNotConfirmed = errors.New("not confirmed; nothing was done")

// Interactive reports whether a person can be asked: standard input and standard error are
// both a terminal.
func (t *Terminal) Interactive() bool {
	f, ok := t.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && Watched(t.Errs)
}

// Confirm asks the person to type a word, and returns an error for anything else. If nobody
// can be asked, its error names the flag to give instead: silence is never consent.
func Confirm(t *Terminal, question, word, instead string) error {
	if !t.Interactive() {
		return Unusablef("nobody can be asked here, as this is no terminal; nothing was done. %s", instead)
	}
	fmt.Fprintf(t.Errs, "%s Type %s: ", question, word)
	line, err := orEnd(t.Context, func() (string, error) { return bufio.NewReader(t.In).ReadString('\n') })
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(t.Errs)
		return err
	}
	if strings.TrimSpace(line) != word {
		return errNotConfirmed
	}
	return nil
}

// AskSecret reads a line without echo. It turns the echo off before it shows the question, so
// that text pasted early isn't shown either. In this mode an interrupt arrives as a
// character.
func AskSecret(t *Terminal, f *os.File, question string) (string, error) {
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", err
	}
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{f, t.Errs}, "")
	text, err := orEnd(t.Context, func() (string, error) { return screen.ReadPassword(question) })
	if errors.Is(err, io.EOF) {
		err = context.Canceled
	}
	return strings.TrimSpace(text), errors.Join(err, term.Restore(int(f.Fd()), before))
}

// orEnd reads a line unless the command is interrupted first. The pending read then ends
// with the process.
func orEnd(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		text, err := read()
		came <- answer{text, err}
	}()
	select {
	case a := <-came:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
