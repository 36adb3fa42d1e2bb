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

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// One rule needs another process: it is this test binary, in a role.
const childURL = "COUNTERSIGN_TEST_STALL_URL"

// stallIdle is long for a batch that runs, since one that is too slow for it is undone
// as well, and short for a test.
const stallIdle = 2 * time.Second

// stallOnce increments; the first run of its function is stopped in the middle, as
// by a debugger, until the parent lets it go on.
func stallOnce(url string) error {
	settings := calm()
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

// TestStalledHolderLosesTheLock while it stands still, and what it then commits.
func TestStalledHolderLosesTheLock(t *testing.T) {
	t.Parallel()
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
	wantWithin(t, begun, "to have the lock")
	wantCount(t, s, 2)
	mustDo(t, cmd.Process.Signal(syscall.SIGCONT))
	rest, err := io.ReadAll(reader)
	mustDo(t, err)
	mustDo(t, cmd.Wait())
	runs := 0
	if n, err := fmt.Sscanf(string(rest), "ran %d times: <nil>\n", &runs); n != 1 || err != nil || runs < 2 {
		t.Errorf("the child printed %q", rest)
	}
	wantCount(t, s, 3)
}
