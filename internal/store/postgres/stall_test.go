package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/postgres/pgtest"
)

// One rule needs another process: it is this test binary, in a role.
const childURL = "COUNTERSIGN_TEST_STALL_URL"

const stallIdle = 500 * time.Millisecond

// stallOnce increments; the first run of its function is stopped in the middle, as
// by a debugger, until the parent lets it go on.
func stallOnce(url string) error {
	settings := defaults()
	settings.idle = stallIdle
	s, err := open(context.Background(), url, settings)
	if err != nil {
		return err
	}
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	runs := 0
	err = s.Update(context.Background(), func(tx store.Tx) error {
		if err := increment(tx); err != nil {
			return err
		}
		if runs++; runs > 1 {
			return nil
		}
		fmt.Println("stalled")
		err := syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-goesOn // some threads may run a little longer than others
		return err
	})
	fmt.Println("ran", runs, "times:", err)
	return s.Close()
}

// TestStalledHolderLosesTheLock, and what it then commits.
func TestStalledHolderLosesTheLock(t *testing.T) {
	url := pgtest.Database(t)
	s := mustOpen(t, url)
	mustIncrement(t, s)
	self, err := os.Executable()
	mustDo(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childURL+"="+url)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	mustDo(t, err)
	mustDo(t, cmd.Start())
	reader := bufio.NewReader(out)
	if line, err := reader.ReadString('\n'); line != "stalled\n" {
		t.Fatalf("the child printed %q: %v", line, err)
	}
	begun := time.Now()
	mustIncrement(t, s)
	if took := time.Since(begun); took > stallIdle+3*time.Second {
		t.Errorf("the lock was had after %s", took)
	}
	wantCount(t, s, 2)
	mustDo(t, cmd.Process.Signal(syscall.SIGCONT))
	rest, err := io.ReadAll(reader)
	mustDo(t, err)
	mustDo(t, cmd.Wait())
	if string(rest) != "ran 2 times: <nil>\n" {
		t.Errorf("the child printed %q", rest)
	}
	wantCount(t, s, 3)
}
