package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// two opens two stores on a database that has the rows a, b and c, which the first has cached.
func two(t *testing.T) (s, other *Store, url string) {
	t.Helper()
	url = pgtest.Database(t)
	s, other = mustOpen(t, url), mustOpen(t, url)
	mustWrite(t, s, "a", "old")
	mustWrite(t, s, "b", "old")
	mustWrite(t, s, "c", "old")
	return s, other, url
}

func mustWrite(t *testing.T, s *Store, id, doc string) {
	t.Helper()
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return write(tx, id, doc) }))
}

// sees is what a function of the store sees of a row. Behind every store's back, what the
// database has of each row is changed first: a row that is seen as it was is of the cache.
func sees(t *testing.T, s *Store, url, id string) (doc string) {
	t.Helper()
	pgtest.Exec(t, url, "UPDATE models SET doc = doc || ' in the database' WHERE doc NOT LIKE '% in the database'")
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
		doc, err = read(tx, id)
		return errors.Join(err, tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint("seen-", id), Doc: []byte("{}")}, 0))
	}))
	return doc
}

// TestRowsThatOthersHaveNotChangedAreNotReadAgain, and those that they have changed are.
func TestRowsThatOthersHaveNotChangedAreNotReadAgain(t *testing.T) {
	s, other, url := two(t)
	mustWrite(t, other, "b", "new")
	mustWrite(t, other, "d", "new")
	if got := sees(t, s, url, "a"); got != "old" {
		t.Errorf("a row that nobody has changed is seen as %q", got)
	}
	if got := sees(t, s, url, "b"); got != "new in the database" {
		t.Errorf("a row that another has changed is seen as %q", got)
	}
}

// TestATurnThatNobodyNotedMakesAllRowsOld: such as one of an earlier release or of a migration.
func TestATurnThatNobodyNotedMakesAllRowsOld(t *testing.T) {
	for name, gap := range map[string]string{
		"an earlier release wrote":  "UPDATE countersign_writer SET turn = turn + 1 WHERE id = 1",
		"it has changed too much":   "UPDATE countersign_turns SET changed = NULL WHERE turn = (SELECT max(turn) FROM countersign_turns)",
		"it was too long ago":       "UPDATE countersign_turns SET turn = turn - 32 WHERE turn = (SELECT max(turn) FROM countersign_turns)",
		"the last batch was lost":   "UPDATE countersign_batches SET batch = batch - 1",
		"no batch of ours is known": "DELETE FROM countersign_batches",
	} {
		t.Run(name, func(t *testing.T) {
			s, other, url := two(t)
			mustWrite(t, other, "b", "new")
			pgtest.Exec(t, url, gap)
			if got := sees(t, s, url, "a"); got != "old in the database" {
				t.Errorf("a row is seen as %q", got)
			}
		})
	}
}

// TestATurnThatChangesMuchIsNotNoted: the others take all of their rows for old.
func TestATurnThatChangesMuchIsNotNoted(t *testing.T) {
	s, other, url := two(t)
	mustDo(t, other.Update(context.Background(), func(tx store.Tx) error {
		for i := range maxNoted + 1 {
			if err := tx.Put(store.Steps, "acme", store.Row{ID: fmt.Sprint(i), Keys: []any{"run", int64(i), ""}, Doc: []byte("{}")}, 0); err != nil {
				return err
			}
		}
		return write(tx, "b", "new")
	}))
	if got := sees(t, s, url, "a"); got != "old in the database" {
		t.Errorf("a row that it has not changed is seen as %q", got)
	}
}

// TestCountsFollowWhatOthersChange, and are not asked again while they change something else.
func TestCountsFollowWhatOthersChange(t *testing.T) {
	s, other, url := two(t)
	counts := func(s *Store) (n int) {
		t.Helper()
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) (err error) {
			n, err = tx.Count(store.Models, "acme", store.Query{Where: []store.Filter{store.Equal("retired", int64(0))}})
			if of, otherErr := tx.Count(store.Models, "beta", store.Query{Where: []store.Filter{store.Equal("retired", int64(0))}}); of != 0 || otherErr != nil {
				t.Errorf("another tenant has %d rows: %v", of, otherErr)
			}
			return errors.Join(err, write(tx, "c", "counted"))
		}))
		return n
	}
	if n := counts(s); n != 3 {
		t.Fatalf("%d rows", n)
	}
	pgtest.Exec(t, url, "INSERT INTO models (tenant, id, version, doc, retired) VALUES ('acme', 'hidden', 1, '{}', 0)")
	mustWrite(t, other, "b", "new") // which changes no list
	if n := counts(s); n != 3 {
		t.Errorf("%d rows: they were counted again", n)
	}
	mustWrite(t, other, "d", "new")
	if n := counts(s); n != 5 {
		t.Errorf("%d rows, after another has added one", n)
	}
	mustWrite(t, s, "e", "new")
	if n := counts(s); n != 6 {
		t.Errorf("%d rows, after one more of our own", n)
	}
	mustDo(t, other.Update(context.Background(), func(tx store.Tx) error { return tx.Delete(store.Models, "acme", "d") }))
	if n := counts(s); n != 5 {
		t.Errorf("%d rows, after another has deleted one", n)
	}
}

// TestWhatABatchThatIsNotCommittedHasLearnedIsForgotten: a database that fails over may lose
// what it has read of others.
func TestWhatABatchThatIsNotCommittedHasLearnedIsForgotten(t *testing.T) {
	s, other, url := two(t)
	mustWrite(t, other, "b", "lost")
	refused := errors.New("refused")
	err := s.Update(context.Background(), func(tx store.Tx) error {
		if doc, err := read(tx, "b"); doc != "lost" || err != nil {
			return fmt.Errorf("b is %q: %w", doc, err)
		}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Fatal(err)
	}
	// The server that takes over lacks that turn, and had another one instead.
	pgtest.Exec(t, url, "UPDATE models SET doc = 'before', version = version - 1 WHERE id = 'b'; UPDATE countersign_turns SET changed = '' WHERE turn = (SELECT max(turn) FROM countersign_turns)")
	if got := sees(t, s, url, "b"); got != "before in the database" {
		t.Errorf("the row that was lost is seen as %q", got)
	}
}

// TestTwoCountsOfATableAreAskedForAsTwo, also in advance.
func TestTwoCountsOfATableAreAskedForAsTwo(t *testing.T) {
	s, other, _ := two(t)
	for i := range 6 {
		mustWrite(t, other, fmt.Sprint("more-", i), "new")
		counts := [2]int{}
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			for retired := range counts {
				var err error
				if counts[retired], err = tx.Count(store.Models, "acme", store.Query{Where: []store.Filter{store.Equal("retired", int64(retired))}}); err != nil {
					return err
				}
			}
			return increment(tx)
		}))
		if want := [2]int{4 + i, 0}; counts != want {
			t.Errorf("%v rows are counted, %v are there", counts, want)
		}
	}
}
