// Package semaphore bounds concurrent work and grants permits to tenants in turn, so that a
// tenant with many requests does not delay the others.
package semaphore

import (
	"context"
	"slices"
	"sync"
)

// Semaphore lets a limited number of functions run at once. It is safe for concurrent use.
type Semaphore struct {
	mu      sync.Mutex
	free    int
	most    int                      // permits that one tenant may hold
	held    map[string]int           // permits by tenant
	order   []string                 // waiting tenants, the next one first
	waiting map[string][]chan<- bool // the waiting calls of each tenant, oldest first
}

// New makes a semaphore with n permits.
func New(n int) *Semaphore {
	return &Semaphore{free: n, most: n, held: map[string]int{}, waiting: map[string][]chan<- bool{}}
}

// Shared makes a semaphore with n permits of which no tenant holds the last one, however long
// its work takes.
func Shared(n int) *Semaphore {
	s := New(n)
	s.most = max(1, n-1)
	return s
}

// Do runs work when the tenant gets a permit, or returns the error of a context that ended
// before.
func (s *Semaphore) Do(ctx context.Context, tenant string, work func()) error {
	if err := s.await(ctx, tenant); err != nil {
		return err
	}
	defer s.next(tenant)
	work()
	return nil
}

// DoInPieces is Do for work that takes long: between its pieces it calls yield, which lets
// others who wait go first. Once yield has returned an error, the work has no permit any more
// and must end.
func (s *Semaphore) DoInPieces(ctx context.Context, tenant string, work func(yield func() error)) error {
	if err := s.await(ctx, tenant); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			s.next(tenant)
		}
	}()
	work(func() error {
		if !held {
			return ctx.Err()
		}
		turn := s.yield(tenant)
		if turn == nil {
			return ctx.Err()
		}
		err := s.granted(ctx, tenant, turn)
		held = err == nil
		return err
	})
	return nil
}

// yield passes a tenant's permit to the next who waits, and queues the call behind them. It
// returns nil if nobody waits. Both are one act: whoever got the permit, and yields in turn,
// would else find nobody waiting and run to its end.
func (s *Semaphore) yield(tenant string) chan bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return nil
	}
	turn := s.queue(tenant)
	s.pass(tenant)
	return turn
}

func (s *Semaphore) await(ctx context.Context, tenant string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	turn := s.join(tenant)
	if turn == nil {
		return nil
	}
	return s.granted(ctx, tenant, turn)
}

// granted waits for a queued call's permit.
func (s *Semaphore) granted(ctx context.Context, tenant string, turn chan bool) error {
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if s.leave(tenant, turn) {
		return ctx.Err()
	}
	s.next(tenant) // the permit was granted meanwhile: pass it on
	return ctx.Err()
}

// join takes a free permit and returns nil, or queues the call and returns its channel.
func (s *Semaphore) join(tenant string) chan bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 && s.held[tenant] < s.most {
		s.free--
		s.held[tenant]++
		return nil
	}
	return s.queue(tenant)
}

// queue appends a call to those that wait. The caller holds mu.
func (s *Semaphore) queue(tenant string) chan bool {
	turn := make(chan bool, 1)
	if len(s.waiting[tenant]) == 0 {
		s.order = append(s.order, tenant)
	}
	s.waiting[tenant] = append(s.waiting[tenant], turn)
	return turn
}

// next takes a tenant's permit back and passes it to the oldest call of the next tenant that may
// hold one more, and moves that tenant to the end of the order. Without such a call it frees the
// permit.
func (s *Semaphore) next(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(holder)
}

// pass is next for a caller that holds mu.
func (s *Semaphore) pass(holder string) {
	s.free++
	if s.held[holder]--; s.held[holder] == 0 {
		delete(s.held, holder)
	}
	at := slices.IndexFunc(s.order, func(tenant string) bool { return s.held[tenant] < s.most })
	if at < 0 {
		return
	}
	tenant := s.order[at]
	turn := s.waiting[tenant][0]
	s.order, s.waiting[tenant] = slices.Delete(s.order, at, at+1), s.waiting[tenant][1:]
	if len(s.waiting[tenant]) > 0 {
		s.order = append(s.order, tenant)
	} else {
		delete(s.waiting, tenant)
	}
	s.free--
	s.held[tenant]++
	turn <- true
}

// leave removes a waiting call. It returns false if the call already has a permit.
func (s *Semaphore) leave(tenant string, turn chan<- bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting[tenant], turn)
	if at < 0 {
		return false
	}
	s.waiting[tenant] = slices.Delete(s.waiting[tenant], at, at+1)
	if len(s.waiting[tenant]) == 0 {
		delete(s.waiting, tenant)
		s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == tenant })
	}
	return true
}
