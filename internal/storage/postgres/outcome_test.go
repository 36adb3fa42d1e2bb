package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// behind opens a store on a database and another one behind a proxy.
func behind(t testing.TB, change func(*settings)) (direct, proxied *Store, p *proxy) {
	t.Helper()
	url := pgtest.Database(t)
	direct = mustOpen(t, url)
	p, through := startProxy(t, url)
	settings := calm()
	if change != nil {
		change(&settings)
	}
	proxied, err := open(context.Background(), through, settings)
	mustDo(t, err)
	t.Cleanup(func() { mustClose(t, proxied) })
	mustIncrement(t, proxied) // it is connected, its statements are prepared
	return direct, proxied, p
}

// counted is an Update that increments; calls is how often its function ran.
func counted(s *Store) (calls int, err error) {
	err = s.Update(context.Background(), func(tx store.Tx) error {
		calls++
		return increment(tx)
	})
	return calls, err
}

// TestCutConnectionsNeitherLoseNorRepeat cuts the connection of a batch after each
// byte of the answers, and after each few of the requests, whether it takes the lock first
// or runs ahead.
func TestCutConnectionsNeitherLoseNorRepeat(t *testing.T) {
	for d, step := range map[direction]int{requests: 5, answers: 1} {
		for name, aheadFor := range map[string]time.Duration{"locked": 0, "ahead": generous} {
			t.Run(d.String()+" "+name, func(t *testing.T) {
				direct, s, p := behind(t, func(s *settings) { s.aheadFor = aheadFor })
				ran := map[int]int{}
				cutEach(t, d, step, func(n int) bool {
					before := count(t, direct)
					for ahead := aheadFor > 0; s.writer.mayRunAhead() != ahead; before++ {
						mustIncrement(t, s)
					}
					if aheadFor == 0 {
						s.writer.cache.Clear() // so that the function asks the database
					}
					p.arm(fault{of: d, after: n})
					calls, err := counted(s)
					if err != nil {
						t.Fatalf("cut after %d bytes: %v", n, err)
					}
					if now := count(t, direct); now != before+1 {
						t.Fatalf("cut after %d bytes: the counter is at %d, want %d", n, now, before+1)
					}
					struck := p.disarm()
					if struck {
						ran[calls]++
					}
					return struck
				})
				t.Logf("cuts by runs of the function: %v", ran)
				if ran[2] == 0 || d == answers && ran[1] == 0 {
					t.Errorf("cuts by runs of the function: %v", ran)
				}
			})
		}
	}
}

// TestMessagesThatArriveLateNeitherLoseNorRepeat: the sender of a batch that runs ahead is cut
// off at drawn places, and what it had sent arrives when the batch is over.
func TestMessagesThatArriveLateNeitherLoseNorRepeat(t *testing.T) {
	direct, s, p := behindAhead(t, func(*settings) {})
	late := 0
	cutEach(t, requests, 40, func(n int) bool {
		for !s.writer.mayRunAhead() {
			mustIncrement(t, s)
		}
		before := count(t, direct)
		p.arm(fault{of: requests, after: n, late: true})
		_, err := counted(s)
		mustDo(t, err)
		struck := p.disarm()
		if struck {
			late++
			p.deliver(t)
		}
		wantCount(t, direct, before+1)
		return struck
	})
	if late == 0 {
		t.Error("no message was late")
	}
}

// TestAnswerAgreesWithWhatIsStored when the database can't be reached any more
// after the cut: the answer is "nothing was changed" only where that is so.
func TestAnswerAgreesWithWhatIsStored(t *testing.T) {
	for d, step := range map[direction]int{requests: 11, answers: 3} {
		t.Run(d.String(), func(t *testing.T) {
			url := pgtest.Database(t)
			direct := mustOpen(t, url)
			mustIncrement(t, direct)
			seen, ahead := map[string]int{}, true
			cut := func(f fault) (struck bool) {
				ahead = !ahead
				answer, struck := cutForGood(t, direct, url, f, ahead)
				if struck {
					seen[answer]++
				}
				return struck
			}
			for range 2 { // between offsets that lie far apart; the second time ahead
				cut(fault{of: d, at: "COMMIT\x00", shut: true})
			}
			cutEach(t, d, step, func(n int) bool { return cut(fault{of: d, after: n, shut: true}) })
			t.Logf("answers: %v", seen)
			if seen["unavailable"] == 0 || seen["doubt"] == 0 || seen["done"] > 0 {
				t.Errorf("answers: %v", seen)
			}
		})
	}
}

func cutForGood(t *testing.T, direct *Store, url string, f fault, ahead bool) (answer string, struck bool) {
	t.Helper()
	p, through := startProxy(t, url)
	defer p.stop()
	settings := calm()
	settings.patience, settings.doubt, settings.aheadFor = 0, 0, generous
	db, err := parse(through, settings)
	mustDo(t, err)
	s := &Store{writer: newWriter(db), views: newViews(db)}
	go s.writer.run()
	defer mustClose(t, s)
	mustIncrement(t, s)
	if ahead {
		mustIncrement(t, s)
	}
	before := count(t, direct)
	p.arm(f)
	_, err = counted(s)
	answer = agreed(t, s, f, err, count(t, direct)-before)
	return answer, p.disarm()
}

// agreed checks the answer against how often was counted.
func agreed(t *testing.T, s *Store, f fault, err error, times int64) string {
	t.Helper()
	failed := false
	select {
	case <-s.Failed():
		failed = true
	default:
	}
	switch {
	case err == nil && times == 1 && !failed:
		return "done"
	case errors.Is(err, store.ErrInDoubt) && !errors.Is(err, store.ErrUnavailable) && times <= 1 && failed:
		return "doubt"
	case errors.Is(err, store.ErrUnavailable) && times == 0 && !failed:
		return "unavailable"
	}
	t.Fatalf("cut after %d bytes (at %q): counted %d times, failed %t, and the answer is %v", f.after, f.at, times, failed, err)
	return ""
}

// TestOutcomeIsFoundAfterOthersWrote: between the COMMIT and the look another
// process has committed.
func TestOutcomeIsFoundAfterOthersWrote(t *testing.T) {
	for _, c := range []struct {
		of        direction
		wantCalls int
	}{{answers, 1}, {requests, 2}} {
		t.Run(c.of.String(), func(t *testing.T) {
			direct, s, p := behind(t, nil)
			f := p.arm(fault{of: c.of, at: "COMMIT\x00", shut: true})
			done := make(chan error)
			calls := 0
			go func() {
				var err error
				calls, err = counted(s)
				done <- err
			}()
			<-f.struck
			for range 3 {
				mustIncrement(t, direct)
			}
			p.reopen()
			mustDo(t, <-done)
			wantCount(t, direct, 5)
			if calls != c.wantCalls {
				t.Errorf("the function ran %d times, want %d", calls, c.wantCalls)
			}
		})
	}
}

// TestSilentServerIsGivenUp: the connection stays, but nothing comes any more.
func TestSilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"BEGIN\x00", "COMMIT\x00"} {
		direct, s, p := behind(t, func(s *settings) { s.answer, s.idle = 2*time.Second, time.Second })
		p.arm(fault{of: answers, at: at, silent: true})
		_, err := counted(s)
		mustDo(t, err)
		wantCount(t, direct, 2)
		if !p.disarm() {
			t.Errorf("no answer held %q", at)
		}
	}
}

// TestDoubtEndsTheStore: the outcome can't be found out in time.
func TestDoubtEndsTheStore(t *testing.T) {
	direct, s, p := behind(t, func(s *settings) { s.doubt = 50 * time.Millisecond })
	p.arm(fault{of: answers, at: "COMMIT\x00", shut: true})
	_, err := counted(s)
	if !errors.Is(err, store.ErrInDoubt) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the Update in doubt: %v", err)
	}
	<-s.Failed()
	p.reopen()
	if _, err := counted(s); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the next Update: %v", err)
	}
	wantCount(t, direct, 2)
}
