package postgres

import (
	"context"
	"errors"
	"slices"
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

// TestWhoWaitsKeepsItsPlace: who looks at the holder goes on waiting in the transaction
// in which it began to, as who doesn't look does. Which of them the server serves first
// is not for sure: a row that was changed meanwhile is locked anew by each.
func TestWhoWaitsKeepsItsPlace(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	working, looking, patient := mustOpen(t, url), mustOpenWith(t, url, brief()), mustOpen(t, url)
	mustIncrement(t, working)
	w, answer := begin(working)
	served := make(chan error, 2)
	for i, s := range []*Store{looking, patient} {
		go func() { served <- s.Update(context.Background(), increment) }()
		queued(t, url, i+1)
	}
	before := ask(t, url, waiters)
	after := before
	for looks := map[string]bool{}; len(looks) < 2*checksPerIdle && slices.Equal(before, after); after = ask(t, url, waiters) {
		for _, at := range ask(t, url, lastLook) {
			looks[at] = true
		}
	}
	close(w.enough)
	if err := <-answer; err != nil || !slices.Equal(before, after) && !w.stoodStill {
		t.Errorf("%v waited, and later %v: %v", before, after, err)
	}
	mustDo(t, errors.Join(<-served, <-served))
	wantCount(t, working, 4)
}

// waiters are the sessions that wait for the writer's row, each with when its
// transaction and its statement began; lastLook is when somebody last looked at the holder.
const (
	waiters = "SELECT concat_ws('/', pid, xact_start, query_start) FROM pg_stat_activity" +
		" WHERE datname = current_database() AND wait_event_type = 'Lock' ORDER BY pid"
	lastLook = "SELECT query_start::text FROM pg_stat_activity" +
		" WHERE datname = current_database() AND query LIKE '%pg_terminate_backend%' AND pid <> pg_backend_pid()"
)

// queued waits until so many batches wait for the writer's row.
func queued(t *testing.T, url string, n int) {
	t.Helper()
	for until := time.Now().Add(generous); time.Now().Before(until); {
		if len(ask(t, url, waiters)) == n {
			return
		}
	}
	t.Fatalf("%d batches did not come to wait in %s", n, generous)
}
