// Package semaphore has tenants take turns at work that few may do at once: however much
// one of them asks for, another waits for what is under way and not for what waits.
package semaphore

import (
	"context"
	"slices"
	"sync"
)

// Semaphore lets so many work at once. It is safe for concurrent use.
type Semaphore struct {
	mu      sync.Mutex
	free    int
	order   []string                 // tenants that wait, the one whose turn is next first
	waiting map[string][]chan<- bool // of each, who came first first
}

// New lets n work at once.
func New(n int) *Semaphore {
	return &Semaphore{free: n, waiting: map[string][]chan<- bool{}}
}

// Do works when it is the tenant's turn, unless the context ends before.
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
	t.next() // the turn came meanwhile: somebody else's now
	return ctx.Err()
}

// join is nil for a turn at once.
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

// next gives the turn that ends to the first of the next tenant, which is the last in
// the order from then on.
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

// leave is false where the turn has come already.
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
