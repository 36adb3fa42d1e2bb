package cli

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

// errNotConfirmed ends a command whose question was answered otherwise.
var errNotConfirmed = errors.New("not confirmed; nothing was done")

// interactive reports that a person can be asked: standard input and standard
// error are both a terminal.
func (t *Terminal) interactive() bool {
	f, ok := t.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && Watched(t.Errs)
}

// confirm asks for a word to be typed; only that word goes on. Where nobody can
// be asked it refuses and says what to give instead: silence is never consent.
func confirm(t *Terminal, question, word, instead string) error {
	if !t.interactive() {
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

// askSecret reads a line that the terminal never shows: it is made blind before
// the question is seen, so that what is pasted at once isn't shown either. An
// interrupt comes as a character there.
func askSecret(t *Terminal, f *os.File, question string) (string, error) {
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

// orEnd reads until there is a line or the command is interrupted. The process
// ends then, and the read with it.
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
