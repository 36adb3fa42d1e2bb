package calls_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/adapter/calls"
)

var day = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string) *calls.Store {
	t.Helper()
	s, err := calls.Open(t.Context(), dir, day)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func state(t *testing.T, s *calls.Store, key string) calls.State {
	t.Helper()
	e, _, err := s.Look(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return e.State
}

func TestOneProcessHasADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a %?#b")
	s := open(t, dir)
	if _, err := calls.Open(t.Context(), dir, day); !errors.Is(err, calls.ErrInUse) || err.Error() != dir+": another process uses the directory: stop the adapter first" {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// TestOfACallAndAWithdrawalAtTheSameTimeOneWins.
func TestOfACallAndAWithdrawalAtTheSameTimeOneWins(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range 20 {
		key := strconv.Itoa(i)
		var wins sync.WaitGroup
		errs := make([]error, 2)
		wins.Go(func() { errs[0] = s.Begin(t.Context(), key, "u", "c", day) })
		wins.Go(func() { errs[1] = s.Withdraw(t.Context(), key, "u", day) })
		wins.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), calls.ErrKnown) {
			t.Error(errs)
		}
	}
}

func TestWhatBecomesOfAKey(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"begun", "followed", "done", "lost", "dropped"} {
		must(s.Begin(t.Context(), key, "u", "c", day))
	}
	must(s.Follow(t.Context(), "followed", "/jobs/1"))
	must(s.Finish(t.Context(), "done", calls.Answer{Status: 200, Body: []byte("{}")}, day))
	must(s.Lose(t.Context(), "lost", calls.Answer{Status: 504}, day))
	must(s.Drop(t.Context(), "dropped"))
	must(s.Refuse(t.Context(), "refused", "u", "c", calls.Answer{Status: 424}, day))
	if err := s.Finish(t.Context(), "done", calls.Answer{Status: 500}, day); !errors.Is(err, calls.ErrNotBegun) || err.Error() != "no call under the key waits for its end" {
		t.Error(err)
	}
	must(s.Close())
	s = open(t, dir)
	for key, want := range map[string]calls.State{"begun": calls.Unknown, "followed": calls.Begun, "done": calls.Done, "lost": calls.Unknown, "dropped": "", "refused": calls.Done} {
		if got := state(t, s, key); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	jobs, err := s.Jobs(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].Job != "/jobs/1" {
		t.Error(jobs, err)
	}
	must(s.Resolve(t.Context(), "lost", calls.Answer{Status: 200}, "seen", day))
	must(s.Forget(t.Context(), day.Add(time.Hour)))
	if got := state(t, s, "done"); got != calls.Unknown {
		t.Error("a forgotten answer is", got)
	}
	if err := s.Resolve(t.Context(), "done", calls.Answer{Status: 200}, "seen", day); err != nil {
		t.Error(err)
	}
}

func TestSinceIsTheMakingOrTheLatestRestore(t *testing.T) {
	s := open(t, t.TempDir())
	if at, err := s.Since(t.Context()); err != nil || !at.Equal(day) {
		t.Error(at, err)
	}
	if err := s.Restored(t.Context(), day.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if at, err := s.Since(t.Context()); err != nil || !at.Equal(day.Add(time.Hour)) {
		t.Error(at, err)
	}
}

// TestAFullDiskIsToldApart by the engine's own words for it.
func TestAFullDiskIsToldApart(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "small.db")+"?_pragma=max_page_count(2)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE t (x); ")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", strings.Repeat("x", 1<<20))
	if !calls.Full(err) || calls.Full(nil) || calls.Full(errors.New("another")) {
		t.Error(err)
	}
}
