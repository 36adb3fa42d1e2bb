package line

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// room is how many may get in, and the order in which they did.
type room struct {
	mu   sync.Mutex
	free int
	in   []string
}

func (r *room) take(who string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free == 0 {
		return false
	}
	r.free--
	r.in = append(r.in, who)
	return true
}

func (r *room) gives(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += n
}

// TestTenantsGetInByTurns: however many of one tenant wait before it, another's first is next; a
// tenant's own keep their order.
func TestTenantsGetInByTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r, all := New(time.Second), &room{}, sync.WaitGroup{}
		for _, who := range []string{"a1", "a2", "a3", "a4", "b1", "b2", "c1"} {
			all.Go(func() { l.Wait(t.Context(), who[:1], func() bool { return r.take(who) }) })
			synctest.Wait()
		}
		time.Sleep(10*time.Second + time.Second/2) // between two rounds
		for range 7 {
			r.gives(1)
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		all.Wait()
		if got := strings.Join(r.in, " "); got != "a1 b1 c1 a2 b2 a3 a4" {
			t.Errorf("they got in as %s", got)
		}
		l.empty(t)
	})
}

// TestATenantWithoutRoomHoldsNobodyUp: its first tries, and the next tenant's does.
func TestATenantWithoutRoomHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r, all := New(time.Second), &room{}, sync.WaitGroup{}
		ctx, leave := context.WithCancel(t.Context())
		all.Go(func() {
			if l.Wait(ctx, "full", func() bool { return false }) {
				t.Error("it got in")
			}
		})
		synctest.Wait()
		r.gives(2)
		for _, who := range []string{"b1", "b2"} {
			all.Go(func() { l.Wait(t.Context(), "b", func() bool { return r.take(who) }) })
		}
		time.Sleep(5*time.Second + time.Second/2)
		synctest.Wait()
		if len(r.in) != 2 {
			t.Errorf("in are %v", r.in)
		}
		leave()
		all.Wait()
		l.empty(t)
	})
}

// TestWhoLeavesTheLineHoldsNobodyUp, in whatever moment, and the line ends with the last of them.
func TestWhoLeavesTheLineHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r, all := New(time.Second), &room{}, sync.WaitGroup{}
		for i := range 20 {
			ctx, leave := context.WithTimeout(t.Context(), time.Duration(i)*300*time.Millisecond)
			all.Go(func() { defer leave(); l.Wait(ctx, "a", func() bool { return r.take("a") }) })
		}
		last := false
		all.Go(func() { last = l.Wait(t.Context(), "b", func() bool { return r.take("b") }) })
		time.Sleep(time.Minute)
		r.gives(1)
		all.Wait()
		if !last {
			t.Error("who stayed didn't get in")
		}
		l.empty(t)
	})
}

// empty checks that nobody waits, and that nothing runs for them.
func (l *Line) empty(t *testing.T) {
	t.Helper()
	time.Sleep(time.Minute)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pumping || len(l.order)+len(l.waiting) != 0 {
		t.Errorf("at the end %v %v", l.order, l.pumping)
	}
}
