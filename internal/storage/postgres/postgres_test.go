package postgres

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/internal/testing/storetest"
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

// calm are settings whose bounds no slow machine meets. A test that is about one of
// them makes that one short.
func calm() settings {
	s := defaults()
	s.idle, s.lock, s.statement, s.answer = generous, generous, generous, generous+time.Minute
	s.farFrom, s.batchTime = generous, generous // what a slow machine takes neither ends a batch nor makes a database far
	s.aheadAfter = 1
	s.draftFor = 0 // functions are told that a row isn't cached: tests of them look at each answer
	s.reading, s.connect, s.patience, s.doubt = generous, generous, generous, generous
	return s
}

// generous is how long a test waits for what must come, against hanging.
const generous = 5 * time.Minute

var within = flag.Duration("within", 0, "how soon a store must be well again after an outage; 0: it isn't measured")

// wantWithin is for who measures: a slow machine takes as long as it takes.
func wantWithin(t testing.TB, begun time.Time, what string) {
	t.Helper()
	if took := time.Since(begun); *within > 0 && took > *within {
		t.Errorf("%s took %s", what, took)
	}
}

// mustOpen opens a store that is closed at the end of the test.
func mustOpen(t testing.TB, url string) *Store {
	t.Helper()
	return mustOpenWith(t, url, calm())
}

func mustOpenWith(t testing.TB, url string, settings settings) *Store {
	t.Helper()
	s, err := open(context.Background(), url, settings)
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
