package storetest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

func updateSeesItsOwnWrites(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error {
		wantErr(t, tx.Put(store.Runs, tenant, simple("run-1"), 0), nil)
		row, err := tx.Get(store.Runs, tenant, "run-1")
		wantErr(t, err, nil)
		wantSame(t, row.Version, int64(1))
		wantErr(t, tx.Put(store.Runs, tenant, simple("run-1"), 1), nil)
		wantErr(t, tx.Delete(store.Runs, tenant, "run-1"), nil)
		_, err = tx.Get(store.Runs, tenant, "run-1")
		wantErr(t, err, store.ErrNotFound)
		return tx.Put(store.Runs, tenant, simple("run-1"), 0)
	})
	row, err := get(t, s, "run-1")
	wantErr(t, err, nil)
	wantSame(t, row.Version, int64(1))
}

func failedUpdateLeavesNothing(t *testing.T, s store.Store) {
	put(t, s, simple("old"))
	err := s.Update(context.Background(), func(tx store.Tx) error {
		spoil(t, tx)
		return errDeliberate
	})
	wantErr(t, err, errDeliberate)
	wantUntouched(t, s)
}

func panicInUpdate(t *testing.T, s store.Store) {
	put(t, s, simple("old"))
	func() {
		defer func() {
			if got, _ := recover().(error); !errors.Is(got, errDeliberate) {
				t.Errorf("recovered %v, want the value that fn panicked with", got)
			}
		}()
		_ = s.Update(context.Background(), func(tx store.Tx) error {
			spoil(t, tx)
			panic(errDeliberate)
		})
	}()
	wantUntouched(t, s)
}

// goexitInUpdate ends the goroutine, as t.Fatal inside a function does.
func goexitInUpdate(t *testing.T, s store.Store) {
	put(t, s, simple("old"))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = s.Update(context.Background(), func(tx store.Tx) error {
			spoil(t, tx)
			runtime.Goexit()
			return nil
		})
	}()
	<-gone
	wantUntouched(t, s)
}

// spoil does every kind of write, without the row "old".
func spoil(t *testing.T, tx store.Tx) {
	wantErr(t, tx.Put(store.Runs, tenant, simple("new"), 0), nil)
	wantErr(t, tx.Put(store.Runs, tenant, run("old", 9, "SPOILED", "", ""), 1), nil)
	wantErr(t, tx.Delete(store.Runs, tenant, "old"), nil)
	wantErr(t, tx.Put(store.Tenants, tenant, store.Row{ID: "new", Doc: []byte("{}")}, 0), nil)
}

func wantUntouched(t *testing.T, s store.Store) {
	t.Helper()
	rows := list(t, s, store.Query{})
	wantSame(t, ids(rows), []string{"old"})
	wantSame(t, rows[0].Keys[1], any("READY"))
	wantSame(t, rows[0].Version, int64(1))
	update(t, s, func(tx store.Tx) error { // the store still accepts writes
		n, err := tx.Count(store.Tenants, tenant, store.Query{})
		wantSame(t, n, 0)
		return errors.Join(err, tx.Put(store.Runs, tenant, simple("next"), 0))
	})
}

func writeInViewIsAnError(t *testing.T, s store.Store) {
	put(t, s, simple("old"))
	view(t, s, func(tx store.Tx) error {
		err := tx.Put(store.Runs, tenant, simple("new"), 0)
		if wantErr(t, err, store.ErrReadOnly); !strings.Contains(err.Error(), "store: this transaction can only read") {
			t.Errorf("the log says %q", err)
		}
		wantErr(t, tx.Delete(store.Runs, tenant, "old"), store.ErrReadOnly)
		_, err = tx.Get(store.Runs, tenant, "old")
		return err
	})
	wantUntouched(t, s)
}

func viewReturnsTheFunctionsError(t *testing.T, s store.Store) {
	wantErr(t, s.View(context.Background(), func(store.Tx) error { return errDeliberate }), errDeliberate)
}

func txIsOverAfterItsFunction(t *testing.T, s store.Store) {
	var kept []store.Tx
	keep := func(outcome error) func(store.Tx) error {
		return func(tx store.Tx) error { kept = append(kept, tx); return outcome }
	}
	view(t, s, keep(nil))
	update(t, s, keep(nil))
	wantErr(t, s.Update(context.Background(), keep(errDeliberate)), errDeliberate)
	for _, tx := range kept {
		_, err := tx.Get(store.Runs, tenant, "run-1")
		if wantErr(t, err, store.ErrOver); !strings.Contains(err.Error(), "store: the transaction is over") {
			t.Errorf("the log says %q", err)
		}
		wantErr(t, tx.Put(store.Runs, tenant, simple("run-1"), 0), store.ErrOver)
		_, err = tx.List(store.Runs, tenant, store.Query{})
		wantErr(t, err, store.ErrOver)
	}
}

func cancelledContextRunsNothing(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	never := func(store.Tx) error { t.Error("the function ran"); return nil }
	wantErr(t, s.Update(ctx, never), context.Canceled)
	wantErr(t, s.View(ctx, never), context.Canceled)
}

// contextBoundsTheWaitOnly cancels the context of a running Update and of one that waits for it.
func contextBoundsTheWaitOnly(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	waiting := &watchedContext{Context: ctx, watched: make(chan struct{})}
	running, waited := make(chan struct{}), make(chan error)
	go func() {
		<-running
		waited <- s.Update(waiting, func(store.Tx) error { t.Error("the waiting function ran"); return nil })
	}()
	wantErr(t, s.Update(ctx, func(tx store.Tx) error {
		close(running)
		<-waiting.watched
		cancel()
		wantErr(t, <-waited, context.Canceled)
		return tx.Put(store.Runs, tenant, simple("run-1"), 0)
	}), nil)
	_, err := get(t, s, "run-1")
	wantErr(t, err, nil)
}

// watchedContext signals when a caller begins to wait for its end.
type watchedContext struct {
	context.Context
	watched chan struct{}
	once    sync.Once
}

// Done implements context.Context.
func (c *watchedContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.watched) })
	return c.Context.Done()
}

func closedStoreIsUnavailable(t *testing.T, s store.Store) {
	closeStore(t, s)
	never := func(store.Tx) error { t.Error("the function ran"); return nil }
	wantErr(t, s.Update(context.Background(), never), store.ErrClosed)
	wantErr(t, s.View(context.Background(), never), store.ErrClosed)
	select {
	case <-s.Failed():
		t.Error("closing is not a failure")
	default:
	}
}
