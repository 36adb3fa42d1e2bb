package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestAFailoverLosesNothingAcknowledged: the primary dies for good under writers of
// two stores, and its synchronous standby is promoted.
func TestAFailoverLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	standby := primary.Standby(t)
	url := standby.Either(t, primary.Database(t))
	stores := []*Store{mustOpenWith(t, url, impatient()), mustOpenWith(t, url, impatient())}
	var l log
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { l.write(ctx, t, stores[i%2], i) })
	}
	l.wait(t, 100)
	primary.Kill(t)
	standby.Promote(t)
	promoted := time.Now()
	l.wait(t, 100)
	wantWithin(t, promoted, "to write again after the promotion")
	cancel()
	all.Wait()
	l.check(t, stores[0])
	l.check(t, stores[1])
	t.Logf("%d acknowledged, %d refused", len(l.acknowledged), len(l.refused))
}

// TestACommitWhoseAnswerAFailoverTookIsFound on the new primary, and isn't made
// twice.
func TestACommitWhoseAnswerAFailoverTookIsFound(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	standby := primary.Standby(t)
	p, through := startProxy(t, primary.Database(t))
	s := mustOpen(t, standby.Either(t, through))
	mustIncrement(t, s)
	f := p.arm(fault{of: answers, at: "COMMIT\x00", shut: true})
	answer, calls := make(chan error, 1), 0
	go func() {
		var err error
		calls, err = counted(s)
		answer <- err
	}()
	<-f.struck
	primary.Kill(t)
	standby.Promote(t)
	mustDo(t, <-answer)
	wantCount(t, s, 2)
	if calls != 1 {
		t.Errorf("the function ran %d times", calls)
	}
}

// TestACommitThatTheStandbyLacksIsNotAcknowledged: after a crash the primary shows
// a commit that was still waiting for the standby. Whoever finds it there must wait
// as well, for a promotion would undo it.
func TestACommitThatTheStandbyLacksIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	standby := primary.Standby(t)
	url := primary.Database(t)
	s := mustOpen(t, standby.Either(t, url))
	mustIncrement(t, s)
	standby.Kill(t)
	answer := make(chan error, 1)
	go func() { answer <- s.Update(context.Background(), increment) }()
	waitsForStandby(t, url, answer)
	primary.Kill(t)
	primary.Start(t)
	waitsForStandby(t, url, answer)
	primary.Kill(t)
	standby.Start(t)
	standby.Promote(t)
	select {
	case err := <-answer:
		if err != nil && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Update: %v", err)
		}
		wantCount(t, s, map[bool]int64{true: 2, false: 1}[err == nil])
	case <-time.After(generous):
		t.Errorf("no answer in %s after the promotion", generous)
	}
}

// waitsForStandby waits until a commit, or who finds out about one, waits for the
// standby.
func waitsForStandby(t *testing.T, url string, answer <-chan error) {
	t.Helper()
	const waiting = "SELECT COUNT(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'countersign'"
	for until := time.Now().Add(generous); ask(t, url, waiting)[0] == "0"; {
		select {
		case err := <-answer:
			t.Fatalf("answered without the standby: %v", err)
		default:
		}
		if time.Now().After(until) {
			t.Fatalf("nothing has waited for the standby in %s", generous)
		}
	}
}
