package postgres

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// work is an Update that lists until it is told that it is enough, and then for longer
// than a batch may lie idle. Each statement is short.
type work struct {
	holds, enough chan struct{}
	calls         int
	stoodStill    bool // the machine, for about as long as a batch may lie idle
}

func begin(s *Store) (w *work, answer chan error) {
	w, answer = &work{holds: make(chan struct{}, 9), enough: make(chan struct{})}, make(chan error, 1)
	go func() { answer <- s.Update(context.Background(), w.run) }()
	<-w.holds
	return w, answer
}

func (w *work) run(tx store.Tx) error {
	w.calls++
	if err := increment(tx); err != nil {
		return err
	}
	w.holds <- struct{}{}
	for last, until := time.Now(), (time.Time{}); until.IsZero() || last.Before(until); {
		if _, err := tx.List(store.Tenants, "acme", store.Query{}); err != nil {
			return err
		}
		now := time.Now()
		w.stoodStill = w.stoodStill || now.Sub(last) > silence/2
		last = now
		select {
		case <-w.enough:
			if until.IsZero() {
				until = now.Add(3 * silence)
			}
		default:
		}
	}
	return nil
}

// TestAHolderThatIssuesStatementsIsWaitedFor: each look finds it between two of them.
func TestAHolderThatIssuesStatementsIsWaitedFor(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	working, waiting := mustOpen(t, url), mustOpenWith(t, url, brief())
	mustIncrement(t, working)
	w, answer := begin(working)
	waited := make(chan error, 1)
	go func() { waited <- waiting.Update(context.Background(), increment) }()
	queued(t, url, 1)
	close(w.enough)
	if err := <-answer; err != nil || w.calls != 1 && !w.stoodStill {
		t.Errorf("the function of the holder ran %d times: %v", w.calls, err)
	}
	mustDo(t, <-waited)
	wantCount(t, working, 3)
}

// TestWhoWaitsKeepsItsPlace: it looks at the holder all the while, and somebody who came
// later is served later.
func TestWhoWaitsKeepsItsPlace(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	working, looking, patient := mustOpen(t, url), mustOpenWith(t, url, brief()), mustOpen(t, url)
	mustIncrement(t, working)
	w, answer := begin(working)
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	for i, s := range []*Store{looking, patient} {
		name := []string{"looking", "patient"}[i]
		all.Go(func() {
			err := s.Update(context.Background(), func(tx store.Tx) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				return increment(tx)
			})
			if err != nil {
				t.Error(err)
			}
		})
		queued(t, url, i+1)
	}
	close(w.enough)
	mustDo(t, <-answer)
	all.Wait()
	if !slices.Equal(order, []string{"looking", "patient"}) && !w.stoodStill {
		t.Errorf("served in the order %v", order)
	}
	wantCount(t, working, 4)
}

// queued waits until so many batches wait for the writer's row.
func queued(t *testing.T, url string, n int) {
	t.Helper()
	for until := time.Now().Add(generous); time.Now().Before(until); {
		if len(ask(t, url, "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")) == n {
			return
		}
	}
	t.Fatalf("%d batches did not come to wait in %s", n, generous)
}
