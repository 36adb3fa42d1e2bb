package receiver_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

// openSQLite creates a database with the schema.
func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "keys.db")+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for range 2 { // the table may exist
		if _, err := db.Exec(receiver.Schema); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func TestMemoryStoreKeepsTheLaw(t *testing.T) {
	receivertest.TestStore(t, func(*testing.T) receiver.Store { return &receiver.MemoryStore{} })
}

func TestSQLStoreKeepsTheLaw(t *testing.T) {
	for name, p := range map[string]receiver.Placeholders{"question marks": receiver.QuestionMarks, "dollars": receiver.Dollars} {
		t.Run(name, func(t *testing.T) {
			receivertest.TestStore(t, func(t *testing.T) receiver.Store { return receiver.NewSQLStore(openSQLite(t), p) })
		})
	}
}

func claimed(t *testing.T, s receiver.Store, key string, at time.Time) (receiver.Entry, bool) {
	t.Helper()
	e, got, err := s.Claim(context.Background(), receiver.Claim{Key: key, Payload: "p", By: "test", At: at})
	if err != nil {
		t.Fatal(err)
	}
	return e, got
}

// finished claims a key and finishes it with a body of the given length.
func finished(t *testing.T, s receiver.Store, key string, at time.Time, bytes int) {
	t.Helper()
	if _, got := claimed(t, s, key, at); !got {
		t.Fatalf("%s is known", key)
	}
	if err := s.Finish(context.Background(), key, receiver.Answer{Status: 200, Body: make([]byte, bytes)}); err != nil {
		t.Fatal(err)
	}
}

func knows(t *testing.T, s receiver.Store, key string, at time.Time) bool {
	t.Helper()
	_, got := claimed(t, s, key, at)
	if got {
		if err := s.Release(context.Background(), key); err != nil {
			t.Fatal(err)
		}
	}
	return !got
}

var morning = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

func TestAFullMemoryStoreDropsTheOldestAnswerAndNoClaim(t *testing.T) {
	s := &receiver.MemoryStore{MaxKeys: 3}
	claimed(t, s, "claimed", morning)
	finished(t, s, "old", morning, 0)
	finished(t, s, "new", morning, 0)
	claimed(t, s, "claimed too", morning)
	for key, want := range map[string]bool{"claimed": true, "new": true, "claimed too": true} {
		if _, got := claimed(t, s, key, morning); got == want {
			t.Errorf("%s: known is %v", key, !got)
		}
	}
	claimed(t, s, "claimed at last", morning)
	if _, _, err := s.Claim(context.Background(), receiver.Claim{Key: "one more", At: morning}); !errors.Is(err, receiver.ErrFull) {
		t.Errorf("a fourth claim: %v", err)
	}
	if _, got := claimed(t, s, "claimed", morning); got {
		t.Error("a claim was dropped")
	}
}

func TestMemoryStoreDropsOldAnswersAndNoClaim(t *testing.T) {
	s := &receiver.MemoryStore{MaxAge: time.Hour}
	claimed(t, s, "claimed", morning)
	finished(t, s, "finished", morning, 0)
	if !knows(t, s, "finished", morning.Add(time.Hour)) {
		t.Error("an answer was dropped before its time")
	}
	later := morning.Add(time.Hour + time.Millisecond)
	if knows(t, s, "finished", later) || !knows(t, s, "claimed", later) {
		t.Error("the wrong one was dropped")
	}
}

func TestMemoryStoreBoundsTheBytesOfItsAnswers(t *testing.T) {
	s := &receiver.MemoryStore{MaxBytes: 100}
	for i := range 5 {
		finished(t, s, fmt.Sprint("k", i), morning, 40)
	}
	for i, want := range []bool{false, false, false, true, true} {
		if got := knows(t, s, fmt.Sprint("k", i), morning); got != want {
			t.Errorf("k%d: known is %v", i, got)
		}
	}
}

func TestForgetDropsOldAnswersAndNoClaim(t *testing.T) {
	s := receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks)
	claimed(t, s, "claimed", morning)
	finished(t, s, "finished", morning, 1)
	finished(t, s, "later", morning.Add(time.Second), 1)
	if n, err := s.Forget(context.Background(), morning.Add(time.Millisecond)); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	for key, want := range map[string]bool{"claimed": true, "finished": false, "later": true} {
		if got := knows(t, s, key, morning); got != want {
			t.Errorf("%s: known is %v", key, got)
		}
	}
}

func TestKeysOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.db")
	open := func() (receiver.Store, *sql.DB) {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(receiver.Schema); err != nil {
			t.Fatal(err)
		}
		return receiver.NewSQLStore(db, receiver.QuestionMarks), db
	}
	s, db := open()
	finished(t, s, "finished", morning, 7)
	claimed(t, s, "claimed", morning)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, db = open()
	defer func() { _ = db.Close() }()
	if e, got := claimed(t, s, "finished", morning); got || e.State != receiver.Finished || len(e.Answer.Body) != 7 {
		t.Errorf("%v %+v", got, e)
	}
	if e, got := claimed(t, s, "claimed", morning); got || e.State != receiver.Claimed {
		t.Errorf("%v %+v", got, e)
	}
}

// TestInATransactionTheKeyGoesTheWayOfTheEffect: key and effect are committed together or
// not at all.
func TestInATransactionTheKeyGoesTheWayOfTheEffect(t *testing.T) {
	ctx := context.Background()
	db := openSQLite(t)
	s := receiver.NewSQLStore(db, receiver.QuestionMarks)
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		finished(t, s.In(tx), "k", morning, 3)
		if commit {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := knows(t, s, "k", morning); got != commit {
			t.Errorf("commit %v: known is %v", commit, got)
		}
	}
}

func TestAMemoryStoreKeepsTheLawOfMemories(t *testing.T) {
	receivertest.TestMemory(t, func(*testing.T) receiver.Memory { return &receiver.MemoryStore{} })
}

func TestASQLStoreKeepsTheLawOfMemories(t *testing.T) {
	receivertest.TestMemory(t, func(t *testing.T) receiver.Memory {
		return receiver.NewSQLStore(openSQLite(t), receiver.QuestionMarks)
	})
}
