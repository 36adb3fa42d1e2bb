package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// together runs fn n times concurrently and returns the errors.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

func oneOfManyPutsWins(t *testing.T, s store.Store) {
	put(t, s, simple("run-1"))
	for version := int64(1); version <= 5; version++ {
		won := 0
		for _, err := range together(20, func(int) error { return putAt(s, simple("run-1"), version) }) {
			if err == nil {
				won++
			} else {
				wantErr(t, err, store.ErrConflict)
			}
		}
		wantSame(t, won, 1)
	}
}

func noIncrementIsLost(t *testing.T, s store.Store) {
	put(t, s, run("run-1", 0, "", "", ""))
	const callers, each = 8, 10
	errs := together(callers, func(int) error {
		for range each {
			if err := s.Update(context.Background(), increment); err != nil {
				return err
			}
		}
		return nil
	})
	wantErr(t, errors.Join(errs...), nil)
	row, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, row.Keys[0], any(int64(callers*each)))
}

func increment(tx store.Tx) error {
	row, err := tx.Get(store.Runs, tenant, "run-1")
	if err != nil {
		return err
	}
	return tx.Put(store.Runs, tenant, run("run-1", row.Keys[0].(int64)+1, "", "", ""), row.Version)
}

// viewIsOneSnapshot changes two rows together while readers read one after the other.
func viewIsOneSnapshot(t *testing.T, s store.Store) {
	put(t, s, run("left", 0, "", "", ""), run("right", 0, "", "", ""))
	var written atomic.Bool
	errs := together(4, func(i int) error {
		if i == 0 {
			defer written.Store(true)
			return movePair(s, 50)
		}
		for !written.Load() {
			if err := s.View(context.Background(), samePair); err != nil {
				return err
			}
		}
		return s.View(context.Background(), samePair)
	})
	wantErr(t, errors.Join(errs...), nil)
}

func movePair(s store.Store, moves int64) error {
	for n := int64(1); n <= moves; n++ {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			return errors.Join(
				tx.Put(store.Runs, tenant, run("left", n, "", "", ""), n),
				tx.Put(store.Runs, tenant, run("right", n, "", "", ""), n))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func samePair(tx store.Tx) error {
	left, err := tx.Get(store.Runs, tenant, "left")
	if err != nil {
		return err
	}
	right, err := tx.List(store.Runs, tenant, store.Query{Where: []store.Filter{store.Equal("created", left.Keys[0])}})
	if err == nil && len(right) != 2 {
		err = fmt.Errorf("left is at %v, %d rows are", left.Keys[0], len(right))
	}
	return err
}

func viewIsNotBlockedByUpdate(t *testing.T, s store.Store) {
	put(t, s, simple("old"))
	update(t, s, func(tx store.Tx) error {
		wantErr(t, tx.Put(store.Runs, tenant, simple("new"), 0), nil)
		wantSame(t, ids(list(t, s, store.Query{})), []string{"old"})
		return nil
	})
	wantSame(t, ids(list(t, s, store.Query{})), []string{"new", "old"})
}

// failuresTouchNoOther lets every third of many concurrent Updates fail after it wrote; an engine may
// have put them in one commit.
func failuresTouchNoOther(t *testing.T, s store.Store) {
	var want []string
	for i := range 30 {
		if i%3 != 0 {
			want = append(want, fmt.Sprintf("run-%02d", i))
		}
	}
	errs := together(30, func(i int) error {
		return s.Update(context.Background(), func(tx store.Tx) error {
			row := run(fmt.Sprintf("run-%02d", i), int64(i), strconv.Itoa(i), "", "")
			if err := tx.Put(store.Runs, tenant, row, 0); err != nil || i%3 != 0 {
				return err
			}
			return errDeliberate
		})
	})
	for i, err := range errs {
		if i%3 == 0 {
			wantErr(t, err, errDeliberate)
		} else {
			wantErr(t, err, nil)
		}
	}
	wantSame(t, ids(list(t, s, store.Query{})), want)
}

// guardedConflictTouchesNoOther: an engine may notice late that a row of a guarded table has another
// version. Only the Update that wrote the row fails, and nothing of it is kept.
func guardedConflictTouchesNoOther(t *testing.T, s store.Store) {
	row := func(id string) store.Row {
		return store.Row{ID: id, Keys: []any{"run-1", int64(0), ""}, Doc: []byte("{}")}
	}
	update(t, s, func(tx store.Tx) error { return tx.Put(store.Steps, tenant, row("there"), 0) })
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				if err := tx.Put(store.Runs, tenant, simple(fmt.Sprint("run-", i)), 0); err != nil {
					return err
				}
				if i%5 == 0 {
					return tx.Put(store.Steps, tenant, row("there"), 7)
				}
				return tx.Put(store.Steps, tenant, row(fmt.Sprint("step-", i)), 0)
			})
			if want := i%5 == 0; errors.Is(err, store.ErrConflict) != want || !want && err != nil {
				t.Errorf("Update %d: %v", i, err)
			}
		})
	}
	all.Wait()
	wantSame(t, len(list(t, s, store.Query{})), 16)
	view(t, s, func(tx store.Tx) error {
		rows, err := tx.List(store.Steps, tenant, store.Query{})
		wantSame(t, len(rows), 17)
		return err
	})
}

// aSeenRowThatHasChangedTouchesNoOther: an engine may notice late that a row has another version
// than the one that was seen. Only the Update that wrote it fails, with all that it wrote.
func aSeenRowThatHasChangedTouchesNoOther(t *testing.T, s store.Store) {
	for i := range 20 {
		put(t, s, simple(fmt.Sprint("run-", i)))
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				if err := tx.Put(store.Runs, tenant, simple(fmt.Sprint("new-", i)), 0); err != nil {
					return err
				}
				row, seen := run(fmt.Sprint("run-", i), 2, "COMPLETED", "plan-1", "eu"), int64(1)
				if row.Seen = true; i%5 == 0 {
					seen = 7
				}
				if err := tx.Put(store.Runs, tenant, row, seen); err != nil {
					return err
				}
				got, err := tx.Get(store.Runs, tenant, row.ID)
				if err == nil && i%5 != 0 && got.Version != 2 {
					err = fmt.Errorf("its function reads version %d", got.Version)
				}
				return err
			})
			if want := i%5 == 0; errors.Is(err, store.ErrConflict) != want || !want && err != nil {
				t.Errorf("Update %d: %v", i, err)
			}
		})
	}
	all.Wait()
	wantSame(t, len(list(t, s, store.Query{})), 36)
	done := list(t, s, store.Query{Where: []store.Filter{store.Equal("status", "COMPLETED")}})
	wantSame(t, len(done), 16)
	for _, row := range done {
		wantSame(t, []any{row.Version, row.Seen}, []any{int64(2), false})
	}
}

// aBareListHasTheSameRows, with or without their documents.
func aBareListHasTheSameRows(t *testing.T, s store.Store) {
	for i := range 20 {
		put(t, s, run(fmt.Sprintf("run-%02d", i), int64(i%7), "READY", "plan-1", "eu"))
	}
	update(t, s, func(tx store.Tx) error { return tx.Put(store.Runs, tenant, simple("run-03"), 1) })
	for _, q := range []store.Query{
		{Order: []store.Order{{Column: "created", Descending: true}}},
		{Order: []store.Order{{Column: "created"}}, Offset: 3, Limit: 9},
		{Where: []store.Filter{{Column: "id", Values: []any{"run-03", "run-07", "none"}}}},
	} {
		want := list(t, s, q)
		for i := range want {
			want[i].Doc = nil
		}
		q.Bare = true
		got := list(t, s, q)
		for i := range got {
			got[i].Doc = nil
		}
		wantSame(t, got, want)
	}
}

// aNewRowThatIsThereTouchesNoOther: an engine may notice late that a row is there which was put
// as new. Only the Update that added it fails, and a row that it doesn't add is counted as any.
func aNewRowThatIsThereTouchesNoOther(t *testing.T, s store.Store) {
	put(t, s, simple("there"))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				row := simple(fmt.Sprint("run-", i))
				if row.New = true; i%5 == 0 {
					row.ID = "there"
				}
				before, err := tx.Count(store.Runs, tenant, store.Query{})
				if err != nil {
					return err
				}
				if err := tx.Put(store.Runs, tenant, row, 0); err != nil {
					return err
				}
				after, err := tx.Count(store.Runs, tenant, store.Query{})
				if err == nil && i%5 != 0 && after != before+1 {
					err = fmt.Errorf("%d rows are %d with one more", before, after)
				}
				return err
			})
			if want := i%5 == 0; errors.Is(err, store.ErrConflict) != want || !want && err != nil {
				t.Errorf("Update %d: %v", i, err)
			}
		})
	}
	all.Wait()
	rows := list(t, s, store.Query{})
	wantSame(t, len(rows), 17)
	for _, row := range rows {
		wantSame(t, []any{row.Version, row.New}, []any{int64(1), false})
	}
}

// listSeesWhatItsFunctionWrote, and what committed functions before it wrote.
func listSeesWhatItsFunctionWrote(t *testing.T, s store.Store) {
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			id := fmt.Sprintf("run-%02d", i)
			err := s.Update(context.Background(), func(tx store.Tx) error {
				before, err := tx.Count(store.Runs, tenant, store.Query{})
				if err != nil {
					return err
				}
				if err := tx.Put(store.Runs, tenant, simple(id), 0); err != nil {
					return err
				}
				rows, err := tx.List(store.Runs, tenant, store.Query{})
				if len(rows) != before+1 || !slices.Contains(ids(rows), id) {
					return fmt.Errorf("%d rows, then %v", before, ids(rows))
				}
				if i%4 == 0 {
					return errDeliberate
				}
				return err
			})
			if err != nil && !errors.Is(err, errDeliberate) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantSame(t, len(list(t, s, store.Query{})), 15)
}
