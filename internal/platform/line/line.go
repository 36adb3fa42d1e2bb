// Package line has those who find no room wait, tenants in turn, without anything being stored
// for them: whoever comes first of the next tenant tries again.
package line

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Line is where they wait. It is safe for concurrent use.
type Line struct {
	every time.Duration

	mu      sync.Mutex
	order   []string             // tenants that wait, the next one first
	waiting map[string][]*waiter // of each, the first one first
	pumping bool
}

type waiter struct {
	turn chan struct{} // it may try
	done chan bool     // it has tried: whether it has got in
	gone chan struct{} // it has left
}

// New makes a line whose first of each tenant tries again so often.
func New(every time.Duration) *Line {
	return &Line{every: every, waiting: map[string][]*waiter{}}
}

// Wait calls try in turn until it says that it has got in, or the context ends. Between two calls
// of one tenant's first, each other tenant's first has had its turn; whoever has got in leaves
// its tenant at the end of the order.
func (l *Line) Wait(ctx context.Context, tenant string, try func() bool) bool {
	w := &waiter{turn: make(chan struct{}), done: make(chan bool), gone: make(chan struct{})}
	l.join(tenant, w)
	defer l.leave(tenant, w)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-w.turn:
		}
		if w.tries(try) {
			return true
		}
	}
}

// tries has its turn, which ends even by a panic: others wait for theirs.
func (w *waiter) tries(try func() bool) (in bool) {
	defer func() { w.done <- in }()
	return try()
}

func (l *Line) join(tenant string, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting[tenant]) == 0 {
		l.order = append(l.order, tenant)
	}
	l.waiting[tenant] = append(l.waiting[tenant], w)
	if !l.pumping {
		l.pumping = true
		go l.pump()
	}
}

func (l *Line) leave(tenant string, w *waiter) {
	close(w.gone)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[tenant] = slices.DeleteFunc(l.waiting[tenant], func(o *waiter) bool { return o == w })
	if len(l.waiting[tenant]) == 0 {
		delete(l.waiting, tenant)
		l.order = slices.DeleteFunc(l.order, func(o string) bool { return o == tenant })
	}
}

// pump gives turns as long as somebody waits: a round of all tenants, again at once while
// somebody gets in, else after a while.
func (l *Line) pump() {
	for {
		anybody := false
		for _, tenant := range l.tenants() {
			if l.first(tenant) {
				anybody = true
				l.last(tenant)
			}
		}
		if l.ended() {
			return
		}
		if !anybody {
			time.Sleep(l.every)
		}
	}
}

func (l *Line) tenants() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.order)
}

// first gives the first of a tenant its turn, and reports that it has got in.
func (l *Line) first(tenant string) bool {
	l.mu.Lock()
	var w *waiter
	if all := l.waiting[tenant]; len(all) > 0 {
		w = all[0]
	}
	l.mu.Unlock()
	if w == nil {
		return false
	}
	select {
	case w.turn <- struct{}{}:
	case <-w.gone:
		return false
	}
	return <-w.done
}

// last moves a tenant to the end of the order.
func (l *Line) last(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.order, tenant); at >= 0 {
		l.order = append(slices.Delete(l.order, at, at+1), tenant)
	}
}

func (l *Line) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pumping = len(l.order) > 0
	return !l.pumping
}
