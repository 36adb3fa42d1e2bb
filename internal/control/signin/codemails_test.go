package signin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func always() bool { return true }

// relay takes mails for a second each, and counts how many at once.
type relay struct {
	mu         sync.Mutex
	busy, most int
	sent       []string
	failures   int // of the next mails
}

func (r *relay) send(what string) func() error {
	return func() error {
		r.mu.Lock()
		r.busy++
		r.most = max(r.most, r.busy)
		failed := r.failures > 0
		r.failures = max(0, r.failures-1)
		r.mu.Unlock()
		time.Sleep(time.Second)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy--
		if failed {
			return errors.New("421 too many connections")
		}
		r.sent = append(r.sent, what)
		return nil
	}
}

// post puts a mail on its way; false if it is refused.
func post(all *sync.WaitGroup, c *codeMails, of string, send func() error) bool {
	m := c.add(context.Background(), of)
	if m == nil {
		return false
	}
	all.Go(func() { defer c.remove(m); _ = c.deliver(m, always, send) })
	return true
}

// Each ask opened a connection of its own, and the mails of others were lost.
func TestCodesTakeFewConnectionsAndAFloodWaitsBehindOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		c, r := newCodeMails(), &relay{}
		for i := range 200 {
			post(&all, c, "stranger", r.send(fmt.Sprint("stranger ", i)))
		}
		synctest.Wait()
		began := time.Now()
		done := make(chan time.Duration, 1)
		m := c.add(context.Background(), "ada")
		go func() { _ = c.deliver(m, always, r.send("ada")); c.remove(m); done <- time.Since(began) }()
		if took := <-done; took > 3*time.Second {
			t.Errorf("behind a flood it took %s", took)
		}
		all.Wait()
		if r.most != codeMailsAtOnce || len(r.sent) != 201 {
			t.Errorf("%d connections at once, %d mails", r.most, len(r.sent))
		}
		if c.count != 0 || len(c.waiting) != 0 {
			t.Errorf("%d mails are left in the queue", c.count)
		}
	})
}

// Where too many wait, whoever has most gives way, and is refused alone.
func TestAFloodGivesWayWhereTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		c, r := newCodeMails(), &relay{}
		taken := 0
		for range codeMailsWaiting + 100 {
			if post(&all, c, "stranger", r.send("stranger")) {
				taken++
			}
		}
		if taken != codeMailsWaiting {
			t.Errorf("%d mails wait", taken)
		}
		for i := range 50 {
			if !post(&all, c, fmt.Sprint("person ", i), r.send(fmt.Sprint("person ", i))) {
				t.Errorf("person %d is refused", i)
			}
		}
		all.Wait()
		got := map[string]bool{}
		for _, what := range r.sent {
			got[what] = true
		}
		if len(got) != 51 || len(r.sent) != codeMailsWaiting {
			t.Errorf("%d have theirs, of %d mails", len(got), len(r.sent))
		}
	})
}

// The mail server already has a mail that is being sent, so dropping it would free no place.
func TestAMailThatIsBeingSentDoesNotGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := newCodeMails(), &relay{}
		var mails []*codeMail
		for range codeMailsWaiting {
			mails = append(mails, c.add(context.Background(), "stranger"))
		}
		last := mails[codeMailsWaiting-1]
		var sent sync.WaitGroup
		sent.Go(func() { _ = c.deliver(last, always, r.send("the newest")) })
		synctest.Wait()
		if c.add(context.Background(), "person") == nil {
			t.Error("the person is refused")
		}
		if last.ctx.Err() != nil || mails[codeMailsWaiting-2].ctx.Err() == nil {
			t.Errorf("the newest, which is being sent: %v; the one before it: %v", last.ctx.Err(), mails[codeMailsWaiting-2].ctx.Err())
		}
		sent.Wait()
	})
}

// A refusal tells nothing: what is nobody's takes as long as what is somebody's.
func TestNobodysMailTakesAsLongAsTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, failures := range []int{0, 100} {
			c, r := newCodeMails(), &relay{failures: failures}
			took := func(send func() error) time.Duration {
				var all sync.WaitGroup
				began := time.Now()
				for range 20 {
					post(&all, c, "stranger", send)
				}
				all.Wait()
				return time.Since(began)
			}
			if real, none := took(r.send("x")), took(nil); real != none {
				t.Errorf("a user's mails take %s, nobody's %s", real, none)
			}
		}
	})
}

func TestAMailThatFailsIsTriedAgainWhileItsCodeIsGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := newCodeMails(), &relay{failures: 2}
		m := c.add(context.Background(), "ada")
		if err := c.deliver(m, always, r.send("ada")); err != nil || len(r.sent) != 1 {
			t.Errorf("after two failures: %v", err)
		}
		r.failures = 3
		if err := c.deliver(m, always, r.send("ada")); err == nil {
			t.Error("it is tried for ever")
		}
		r.failures, r.sent = 1, nil
		good := true
		late := func() bool { was := good; good = false; return was }
		if err := c.deliver(m, late, r.send("ada")); !errors.Is(err, errExpired) || len(r.sent) != 0 {
			t.Errorf("once the code is good no more: %v", err)
		}
	})
}

func TestTheEndOfTheServiceWaitsForNoMailThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(context.Background())
		c, r := newCodeMails(), &relay{failures: 1}
		m := c.add(life, "ada")
		ended := make(chan error, 1)
		go func() { ended <- c.deliver(m, always, r.send("ada")) }()
		time.Sleep(2 * time.Second) // it has failed, and waits to be tried again
		end()
		began := time.Now()
		if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) > 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestACodeThatExpiredIsNotMailed: the log says why.
func TestACodeThatExpiredIsNotMailed(t *testing.T) {
	c := newCodeMails()
	m := c.add(t.Context(), "ada")
	defer c.remove(m)
	err := c.deliver(m, func() bool { return false }, (&relay{}).send("ada"))
	if err == nil || err.Error() != "control: the code expired before its mail could be sent" {
		t.Error(err)
	}
}
