package runrepo

import (
	"context"
	"sync"
	"time"
)

// moves are the runs that this process is about to move or is moving.
type moves struct {
	mu   sync.Mutex
	runs map[Ref]*move
}

type move struct {
	underway int
	done     chan struct{}
}

// Moving says that an event is applied to a run, in a transaction that may have to wait for
// its turn; end says that it is over.
func (l *Repository) Moving(ref Ref) (end func()) {
	l.moves.mu.Lock()
	defer l.moves.mu.Unlock()
	m := l.moves.runs[ref]
	if m == nil {
		m = &move{done: make(chan struct{})}
		l.moves.runs[ref] = m
	}
	m.underway++
	return func() {
		l.moves.mu.Lock()
		defer l.moves.mu.Unlock()
		if m.underway--; m.underway == 0 {
			close(m.done)
			delete(l.moves.runs, ref)
		}
	}
}

// maxSettle bounds Settle. It is longer than a batch and its commit take, also under load
// and to a database elsewhere.
const maxSettle = 100 * time.Millisecond

// Settle waits, but not for long, until a run that this process is moving has moved. It is
// for a store that other processes write to, whose runs aren't read from memory: whoever
// asks how a run goes then needn't ask again, and each time it costs the database several
// statements.
func (l *Repository) Settle(ctx context.Context, ref Ref) {
	l.moves.mu.Lock()
	m := l.moves.runs[ref]
	l.moves.mu.Unlock()
	if m == nil {
		return
	}
	late := time.NewTimer(maxSettle)
	defer late.Stop()
	select {
	case <-m.done:
	case <-late.C:
	case <-ctx.Done():
	}
}
