package harness

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Result is a command's exit status and output.
type Result struct {
	Status int
	Out    string // standard output
	Err    string // standard error
}

// Lines are the lines of standard error.
func (r Result) Lines() []string {
	return strings.Split(strings.TrimSuffix(r.Err, "\n"), "\n")
}

// Run runs the binary to its end, without standard input.
func Run(t testing.TB, settings map[string]string, args ...string) Result {
	t.Helper()
	return Fed(t, settings, "", args...)
}

// Fed runs the binary to its end with a standard input.
func Fed(t testing.TB, settings map[string]string, input string, args ...string) Result {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment(settings), strings.NewReader(input), &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v did not end:\n%s", args, &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	noteCommand(cmd.ProcessState.ExitCode(), args)
	return Result{Status: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errs.String()}
}

// Wire sends bytes to the server that no HTTP client would send, and returns the answer up to the end
// of the connection.
func (s *Server) Wire(t testing.TB, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(conn) // a reset also ends the answer
	return answer.String()
}
