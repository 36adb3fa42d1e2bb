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
	order   []string                 // waiting tenants, the next one first
	waiting map[string][]chan<- bool // the waiting calls of each tenant, oldest first
}

// New makes a semaphore with n permits.
func New(n int) *Semaphore {
	return &Semaphore{free: n, waiting: map[string][]chan<- bool{}}
}

// Do runs work when the tenant gets a permit, or returns the error of a context that ended
// before.
func (t *Semaphore) Do(ctx context.Context, tenant string, work func()) error {
	if err := t.await(ctx, tenant); err != nil {
		return err
	}
	defer t.next()
	work()
	return nil
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
	t.next() // the permit was granted meanwhile: pass it on
	return ctx.Err()
}

// join takes a free permit and returns nil, or queues the call and returns its channel.
func (t *Semaphore) join(tenant string) chan bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	turn := make(chan bool, 1)
	if len(t.waiting[tenant]) == 0 {
		t.order = append(t.order, tenant)
	}
	t.waiting[tenant] = append(t.waiting[tenant], turn)
	return turn
}

// next passes a permit to the oldest call of the next tenant, and moves that tenant to the
// end of the order. Without waiting calls it frees the permit.
func (t *Semaphore) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	tenant := t.order[0]
	turn := t.waiting[tenant][0]
	t.order, t.waiting[tenant] = t.order[1:], t.waiting[tenant][1:]
	if len(t.waiting[tenant]) > 0 {
		t.order = append(t.order, tenant)
	} else {
		delete(t.waiting, tenant)
	}
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
