package harness

import (
	"bytes"
	"errors"
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

// logBuffer collects what a process writes and can be waited on.
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

// environment is what a process sees: nothing of ours but what Go and the system
// need, and the test's own settings.
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

func launch(t testing.TB, program string, settings map[string]string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), log: &logBuffer{}, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stderr, p.cmd.Stdout = environment(settings), p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its status is read from ProcessState
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

// address waits for the line that says where the server listens.
func (p *process) address(t testing.TB) string {
	t.Helper()
	url, up := p.comesUp(t)
	if !up {
		t.Fatalf("the server ended at its start:\n%s", p.log)
	}
	return url
}

// comesUp waits for that line or for the end of the process.
func (p *process) comesUp(t testing.TB) (url string, up bool) {
	t.Helper()
	Until(t, "the line `listening on`", func() bool {
		ended := p.ended() // asked first: what it wrote before is read below
		if m := listening.FindStringSubmatch(p.log.String()); m != nil {
			url, up = m[1], true
		}
		return up || ended
	})
	return url, up
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)\n`)

// wait is the exit status, once the process has ended by itself.
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
