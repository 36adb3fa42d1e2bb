package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/storetest"
)

// TestMain also is the entry of the child processes; see child_test.go.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := children[role](os.Getenv(childDirectory)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	for name, s := range map[string]settings{
		"rows are written soon": defaults(), "rows are written after each commit": withCheckpoints(1000, 4), "rows wait for a few commits": awaiting(3000),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) store.Store {
				opened, err := open(context.Background(), emptyStore(t), s)
				mustDo(t, err)
				t.Cleanup(func() { mustClose(t, opened) })
				return opened
			})
		})
	}
}

// awaiting are settings with which rows are written once they have so many bytes.
func awaiting(bytes int) settings {
	s := withCheckpoints(1000, 4)
	s.flushBytes = bytes
	return s
}

// made is what the directory of a store holds that nothing was written to.
var made struct {
	sync.Once
	files map[string][]byte
}

// emptyStore is a directory with an empty store. To make one costs more than most
// rules do, so it is made once; that it can be made is a rule of its own.
func emptyStore(t testing.TB) (dir string) {
	t.Helper()
	made.Do(func() {
		dir := t.TempDir()
		s, err := open(context.Background(), dir, plain)
		mustDo(t, err)
		mustClose(t, s)
		made.files = map[string][]byte{}
		for _, name := range left(t, dir) {
			made.files[name], err = os.ReadFile(filepath.Join(dir, name))
			mustDo(t, err)
		}
	})
	dir = t.TempDir()
	for name, content := range made.files {
		mustDo(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

// fewer is how many rounds there are, with -short fewer.
func fewer(rounds, short int) int {
	if testing.Short() {
		return short
	}
	return rounds
}

// mustOpen opens a store that is closed at the end of the test.
func mustOpen(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { mustClose(t, s) })
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func mustPutPair(t *testing.T, s *Store, n int) {
	t.Helper()
	if err := putPair(s, n); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func wantPair(t *testing.T, s *Store, want int) {
	t.Helper()
	if got, err := readPair(s); got != want || err != nil {
		t.Fatalf("the store is at %d (%v), want %d", got, err, want)
	}
}
