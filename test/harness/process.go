package harness

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"
)

// process is one run of the binary.
type process struct {
	cmd  *exec.Cmd
	log  *logBuffer
	done chan struct{} // closed when it has ended
}

// logBuffer collects the output of a process; tests can wait for a text in it.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// environment is the environment of a process: the variables that Go and the system need, and the
// test's own settings.
func environment(settings map[string]string) []string {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOMAXPROCS"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range settings {
		env = append(env, name+"="+v)
	}
	return env
}

// launch starts the program. Its output goes to its log and to all.
func launch(t testing.TB, program string, all io.Writer, settings map[string]string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), log: &logBuffer{}, done: make(chan struct{})}
	output := io.MultiWriter(p.log, all)
	p.cmd.Env, p.cmd.Stderr, p.cmd.Stdout = environment(settings), output, output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // wait reads the status from ProcessState
		close(p.done)
	}()
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// comesUp waits for the line with the process's address, or for its end.
func (p *process) comesUp(t testing.TB) (url string, up bool) {
	t.Helper()
	Until(t, "the line `listening on`", func() bool {
		ended := p.ended() // read before the log, so that the log is complete if it is true
		if m := listening.FindStringSubmatch(p.log.String()); m != nil {
			url, up = m[1], true
		}
		return up || ended
	})
	return url, up
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)\n`)

// wait returns the exit status when the process has ended by itself.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		t.Fatalf("the process did not end:\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) signal(t testing.TB, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}
