package harness

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Turn is a text that a person types after another text was shown.
type Turn struct{ Seen, Type string }

// OnTerminal runs the binary on a terminal of a width on which a person types. Out is the complete output
// on the terminal.
func OnTerminal(t testing.TB, settings map[string]string, width uint16, dialog []Turn, args ...string) Result {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Env = environment(settings)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: width})
	if err != nil {
		t.Fatal(err)
	}
	screen, read := &logBuffer{}, make(chan struct{})
	go func() {
		defer close(read)
		copyScreen(screen, tty)
	}()
	shown := 0
	for _, d := range dialog {
		shown += await(t, screen, shown, d.Seen)
		if _, err := tty.WriteString(d.Type); err != nil {
			t.Fatal(err)
		}
	}
	status := ended(t, cmd, screen)
	<-read
	_ = tty.Close()
	return Result{Status: status, Out: strings.ReplaceAll(screen.String(), "\r\n", "\n")}
}

// copyScreen reads until the other side is closed, which Linux reports as an error.
func copyScreen(into *logBuffer, tty *os.File) {
	part := make([]byte, 4096)
	for {
		n, err := tty.Read(part)
		_, _ = into.Write(part[:n]) // never fails
		if err != nil {
			return
		}
	}
}

// Interrupt runs the binary until holds returns true for its output, and interrupts it.
func Interrupt(t testing.TB, settings map[string]string, holds func(out string) bool, args ...string) Result {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	out := &logBuffer{}
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(settings), out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	Until(t, "the moment to interrupt", func() bool { return holds(out.String()) })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	return Result{Status: ended(t, cmd, out), Out: out.String()}
}

// await waits for a text after the position shown, and returns the position of its end.
func await(t testing.TB, screen *logBuffer, shown int, text string) (end int) {
	t.Helper()
	Until(t, "the text "+text, func() bool {
		at := strings.Index(screen.String()[shown:], text)
		end = at + len(text)
		return at >= 0
	})
	return end
}

func ended(t testing.TB, cmd *exec.Cmd, out *logBuffer) int {
	t.Helper()
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !timer.Stop() {
		t.Fatalf("%v did not end:\n%s", cmd.Args[1:], out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	noteCommand(cmd.ProcessState.ExitCode(), cmd.Args[1:])
	return cmd.ProcessState.ExitCode()
}
