package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/postgres/pgtest"
	"github.com/countersign/countersign/internal/store/storetest"
)

// TestMain also is the entry of the child process; see stall_test.go.
func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := stallOnce(url); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(pgtest.M{M: m})
}

func TestConformance(t *testing.T) {
	url := pgtest.Database(t)
	storetest.Run(t, func(t *testing.T) store.Store { return mustOpenEmpty(t, url) })
}

// mustOpenEmpty opens a store and empties it.
func mustOpenEmpty(t testing.TB, url string) *Store {
	t.Helper()
	s := mustOpen(t, url)
	var all strings.Builder
	for _, table := range store.Tables() {
		all.WriteString("DELETE FROM " + table.Name + ";")
	}
	pgtest.Exec(t, url, all.String())
	return s
}

// mustOpen opens a store that is closed at the end of the test.
func mustOpen(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(context.Background(), url)
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
