package iofaults

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// traced is the variable with the command that this test binary executes: the tracer and its program, one word a line.
const traced = "COUNTERSIGN_IOFAULTS_TRACED"

func init() {
	if command := os.Getenv(traced); command != "" {
		words := append(strings.Split(command, "\n"), os.Args[1:]...)
		panic(syscall.Exec(words[0], words, os.Environ())) // returns only after an error
	}
}

// tracer is the path of strace, "" if it is missing or may not trace.
func tracer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(path, "-f", "-o", os.DevNull, "true").Run()
	}
	if err != nil {
		t.Log("NOT RUN: system calls that fail, which takes strace: ", err)
		return ""
	}
	return path
}

// injection fails one system call of a kind, counted in each thread, or all from that one on.
type injection struct {
	calls, errno string
	nth          int
	sticky       bool
}

func (i injection) String() string {
	when := fmt.Sprint(i.nth)
	if i.sticky {
		when += "+"
	}
	return fmt.Sprintf("%s:error=%s:when=%s", i.calls, i.errno, when)
}

// ofSync reports whether the injection fails a sync.
func (i injection) ofSync() bool { return strings.HasPrefix(i.calls, "fsync") }

// under is the setting to start a server under the tracer. The tracer is its grandchild (-D), so that the server is the
// test's own child.
func (i injection) under(tracer, trace string) harness.Setting {
	return harness.Env(traced, strings.Join([]string{
		tracer, "-D", "-f", "--seccomp-bpf", "-q", "-o", trace, "-e", "trace=" + i.calls, "-e", "inject=" + i.String(), "--", binary,
	}, "\n"))
}

// injected reports whether a call was failed, when the tracer has written its output.
func injected(t *testing.T, trace string) bool {
	t.Helper()
	var text string
	harness.Until(t, "the tracer to end", func() bool {
		content, err := os.ReadFile(trace)
		mustDo(t, err)
		text = string(content)
		return strings.Contains(text, "+++ exited with ") || strings.Contains(text, "+++ killed by ")
	})
	return strings.Contains(text, "(INJECTED)")
}
