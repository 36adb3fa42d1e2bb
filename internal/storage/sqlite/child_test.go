package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// Some rules need another process: it is this test binary, in a role.
const (
	childRole      = "COUNTERSIGN_TEST_ROLE"
	childDirectory = "COUNTERSIGN_TEST_DIRECTORY"
)

var children = map[string]func(dir string) error{
	"open":  openAndClose,
	"write": writeForever,
}

// child prepares a process in a role.
func child(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childRole+"="+role, childDirectory+"="+dir)
	return cmd
}

func openAndClose(dir string) error {
	s, err := Open(context.Background(), dir)
	if err != nil {
		return err
	}
	return s.Close()
}

// writeForever writes from several goroutines and prints the id of each document
// when it is acknowledged.
func writeForever(dir string) error {
	s, err := Open(context.Background(), dir)
	if err != nil {
		return err
	}
	var printing sync.Mutex
	errs := make(chan error)
	for writer := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), writer, i)
				if err := putWithTwin(s, id); err != nil {
					errs <- err
					return
				}
				printing.Lock()
				fmt.Println(id)
				printing.Unlock()
			}
		}()
	}
	return <-errs
}

// putWithTwin writes a document and another one that is there if it is.
func putWithTwin(s *Store, id string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		for _, table := range []*store.Table{store.Tenants, store.Claims} {
			if err := tx.Put(table, "acme", store.Row{ID: id, Doc: []byte(`{"id":"` + id + `"}`)}, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for range 3 {
		for _, id := range killAfter(t, child(t, "write", dir), 150) {
			acknowledged[id] = true
		}
		s := mustOpen(t, dir)
		wantAll(t, s, acknowledged)
		mustClose(t, s)
	}
}

// killAfter kills a child after that many lines and returns all that it printed.
func killAfter(t *testing.T, cmd *exec.Cmd, lines int) (printed []string) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		printed = append(printed, scanner.Text())
		if len(printed) == lines {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if len(printed) < lines {
		t.Fatalf("the child ended early: %q", printed)
	}
	// The last line may have been cut by the kill, and is no acknowledgement then.
	return printed[:len(printed)-1]
}

func wantAll(t *testing.T, s *Store, acknowledged map[string]bool) {
	t.Helper()
	stored := map[string]bool{}
	err := s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Tenants, "acme", store.Query{})
		for _, row := range rows {
			stored[row.ID] = true
			if _, err := tx.Get(store.Claims, "acme", row.ID); err != nil {
				t.Errorf("%s is there by half: %v", row.ID, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range acknowledged {
		if !stored[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
}
