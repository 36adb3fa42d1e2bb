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
func (t *Semaphore) Do(ctx context.Context, tenant string, work func()) error {
	if err := t.await(ctx, tenant); err != nil {
		return err
	}
	defer t.next(tenant)
	work()
	return nil
}

// DoInPieces is Do for work that takes long: between its pieces it calls yield, which lets
// others who wait go first. Once yield has returned an error, the work has no permit any more
// and must end.
func (t *Semaphore) DoInPieces(ctx context.Context, tenant string, work func(yield func() error)) error {
	if err := t.await(ctx, tenant); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			t.next(tenant)
		}
	}()
	work(func() error {
		if !held {
			return ctx.Err()
		}
		if !t.wanted() {
			return ctx.Err()
		}
		held = false
		t.next(tenant)
		err := t.await(ctx, tenant)
		held = err == nil
		return err
	})
	return nil
}

// wanted reports that somebody waits.
func (t *Semaphore) wanted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.order) > 0
}

func (t *Semaphore) await(ctx context.Context, tenant string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	turn := t.join(tenant)
	if turn == nil {
		return nil
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if t.leave(tenant, turn) {
		return ctx.Err()
	}
	t.next(tenant) // the permit was granted meanwhile: pass it on
	return ctx.Err()
}

// join takes a free permit and returns nil, or queues the call and returns its channel.
func (t *Semaphore) join(tenant string) chan bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 && t.held[tenant] < t.most {
		t.free--
		t.held[tenant]++
		return nil
	}
	turn := make(chan bool, 1)
	if len(t.waiting[tenant]) == 0 {
		t.order = append(t.order, tenant)
	}
	t.waiting[tenant] = append(t.waiting[tenant], turn)
	return turn
}

// next takes a tenant's permit back and passes it to the oldest call of the next tenant that may
// hold one more, and moves that tenant to the end of the order. Without such a call it frees the
// permit.
func (t *Semaphore) next(holder string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	if t.held[holder]--; t.held[holder] == 0 {
		delete(t.held, holder)
	}
	at := slices.IndexFunc(t.order, func(tenant string) bool { return t.held[tenant] < t.most })
	if at < 0 {
		return
	}
	tenant := t.order[at]
	turn := t.waiting[tenant][0]
	t.order, t.waiting[tenant] = slices.Delete(t.order, at, at+1), t.waiting[tenant][1:]
	if len(t.waiting[tenant]) > 0 {
		t.order = append(t.order, tenant)
	} else {
		delete(t.waiting, tenant)
	}
	t.free--
	t.held[tenant]++
	turn <- true
}

// leave removes a waiting call. It returns false if the call already has a permit.
func (t *Semaphore) leave(tenant string, turn chan<- bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.Index(t.waiting[tenant], turn)
	if at < 0 {
		return false
	}
	t.waiting[tenant] = slices.Delete(t.waiting[tenant], at, at+1)
	if len(t.waiting[tenant]) == 0 {
		delete(t.waiting, tenant)
		t.order = slices.DeleteFunc(t.order, func(o string) bool { return o == tenant })
	}
	return true
}
