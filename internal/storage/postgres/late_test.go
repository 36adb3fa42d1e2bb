package postgres

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// behindAhead is behind, with a store that runs its next batch ahead: the message that takes
// the lock has the COMMIT too.
func behindAhead(t *testing.T, change func(*settings)) (direct, s *Store, p *proxy) {
	t.Helper()
	direct, s, p = behind(t, func(s *settings) {
		s.aheadFor = generous
		change(s)
	})
	for range 3 { // at the last of them its statements are prepared
		mustIncrement(t, s)
	}
	if !s.writer.mayRunAhead() {
		t.Fatal("the store doesn't run ahead")
	}
	return direct, s, p
}

// lockAndCommit is the name of the statement that takes the lock in the message that has the
// COMMIT too; aLook is in the message by which the writer finds out about one.
const (
	lockAndCommit = "countersign_lock"
	aLook         = "FOR UPDATE"
)

// TestACommitThatWasNotThereArrivesInVain: a message that its sender has given up may still
// be on its way, in a queue of the kernel's, of a pooler's or of the network's. Once the writer
// has found that its batch isn't committed it never is, whether the message arrives before the
// batch is run again, afterwards, or after others have written.
func TestACommitThatWasNotThereArrivesInVain(t *testing.T) {
	for name, arrives := range map[string]struct{ beforeTheNextTry, afterOthers bool }{
		"before the batch is run again": {beforeTheNextTry: true},
		"after the batch was run again": {},
		"after others have written":     {afterOthers: true},
	} {
		t.Run(name, func(t *testing.T) {
			direct, s, p := behindAhead(t, func(*settings) {})
			before := count(t, direct)
			learn := s.writer.onError
			s.writer.onError = func(err error) {
				learn(err)
				if arrives.beforeTheNextTry && errors.Is(err, errUndone) {
					p.deliver(t)
				}
			}
			p.arm(fault{of: requests, at: lockAndCommit, late: true})
			calls, err := counted(s)
			mustDo(t, err)
			if calls != 2 || !p.disarm() {
				t.Errorf("the function ran %d times, want 2", calls)
			}
			if arrives.afterOthers {
				mustIncrement(t, direct)
				before++
			}
			if !arrives.beforeTheNextTry {
				p.deliver(t)
			}
			wantCount(t, direct, before+1)
			mustIncrement(t, s)
			wantCount(t, direct, before+2)
		})
	}
}

// TestNothingWasChangedStaysTrue: an Update that is refused with store.ErrUnavailable has
// changed nothing, and never will.
func TestNothingWasChangedStaysTrue(t *testing.T) {
	direct, s, p := behindAhead(t, func(s *settings) { s.patience = 0 })
	before := count(t, direct)
	p.arm(fault{of: requests, at: lockAndCommit, late: true})
	if _, err := counted(s); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrInDoubt) {
		t.Fatalf("Update: %v", err)
	}
	p.deliver(t)
	wantCount(t, direct, before)
	mustIncrement(t, s)
	wantCount(t, direct, before+1)
}

// TestALookThatArrivesLateHidesNoCommit: what a look writes, so that its batch is never
// committed, must not stand for what was committed since, nor for what it was to find.
func TestALookThatArrivesLateHidesNoCommit(t *testing.T) {
	for name, lost := range map[string]fault{
		"the batch was never there":      {of: requests, at: lockAndCommit, late: true},
		"its answer alone has been lost": {of: answers, at: "COMMIT\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			direct, s, p := behindAhead(t, func(*settings) {})
			before := count(t, direct)
			first := p.arm(lost)
			looks := make(chan *fault)
			go func() {
				<-first.struck
				looks <- p.arm(fault{of: requests, at: aLook, late: true})
			}()
			_, err := counted(s)
			mustDo(t, err)
			<-(<-looks).struck
			wantCount(t, direct, before+1)
			next := p.arm(fault{of: answers, at: "COMMIT\x00", shut: true})
			done := make(chan int)
			go func() {
				calls, err := counted(s)
				if err != nil {
					t.Errorf("Update: %v", err)
				}
				done <- calls
			}()
			<-next.struck
			p.deliver(t)
			p.reopen()
			if calls := <-done; calls != 1 {
				t.Errorf("the function ran %d times, want 1: its commit was there", calls)
			}
			wantCount(t, direct, before+2)
		})
	}
}

// TestTheNumberOfALookIsNoBatchs: a batch that is run again after a look, and isn't committed
// either, isn't taken for there by what the look has stored.
func TestTheNumberOfALookIsNoBatchs(t *testing.T) {
	direct, s, p := behindAhead(t, func(*settings) {})
	before, undone := count(t, direct), 0
	learn := s.writer.onError
	s.writer.onError = func(err error) {
		learn(err)
		if undone++; undone == 1 {
			p.arm(fault{of: requests, at: "COMMIT\x00"})
		}
	}
	p.arm(fault{of: requests, at: lockAndCommit, late: true})
	calls, err := counted(s)
	mustDo(t, err)
	if calls != 3 {
		t.Errorf("the function ran %d times, want 3", calls)
	}
	wantCount(t, direct, before+1)
	p.deliver(t)
	wantCount(t, direct, before+1)
}
