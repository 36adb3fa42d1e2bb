package sqlite

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
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
	storetest.Run(t, func(t *testing.T) store.Store { return mustOpen(t, t.TempDir()) })
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
