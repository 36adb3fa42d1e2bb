package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// gets reads single rows for Views. What is asked for while messages are under way goes
// together in the next one: after each commit many clients ask at once, mostly for one row,
// and a message for each costs the database more than the row, and at a distance all of them
// would wait for a connection.
type gets struct {
	views *views
	most  int           // messages under way
	late  time.Duration // see lateAfter

	mu       sync.Mutex
	waiting  []*get
	underway int
}

// get is a row that somebody waits for.
type get struct {
	sqldoc.Call
	until time.Time // for a connection
	row   []any
	err   error
	done  chan struct{}
}

const (
	// maxTogether bounds the rows of a message.
	maxTogether = 128
	// connectionsPerMessage is how many connections there are for one that gets use.
	connectionsPerMessage = 4
	// lateAfter is how long a message may take before another connection is used beside it:
	// nobody else should wait for one that is lost.
	lateAfter = 100 * time.Millisecond
)

// ask gives the row as it is after the call, nil if there is none.
func (g *gets) ask(ctx context.Context, c sqldoc.Call, until time.Time) ([]any, error) {
	r := &get{Call: c, until: until, done: make(chan struct{})}
	g.mu.Lock()
	g.waiting = append(g.waiting, r)
	g.begin()
	g.mu.Unlock()
	select {
	case <-r.done:
		return r.row, r.err
	case <-ctx.Done():
		g.leave(r)
		return nil, ctx.Err()
	}
}

// begin has those who wait served, unless enough messages are under way. It is called under mu.
func (g *gets) begin() {
	if len(g.waiting) > 0 && g.underway < g.most {
		g.underway++
		g.views.running.Go(g.serve)
	}
}

func (g *gets) leave(r *get) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *get) bool { return other == r })
}

// serve sends messages until nobody waits, or one of them is late.
func (g *gets) serve() {
	for again := true; again; {
		g.views.turns <- struct{}{}
		all := g.next()
		atLate := time.AfterFunc(g.late, g.ended)
		g.send(all)
		again = atLate.Stop()
		<-g.views.turns
		again = again && g.someWait()
	}
}

// ended says that a message isn't under way any more, or is late.
func (g *gets) ended() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underway--
	g.begin()
}

// someWait ends a serve if nobody waits.
func (g *gets) someWait() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.underway--
	}
	return len(g.waiting) > 0
}

// next takes those who wait, now that there is a connection for them.
func (g *gets) next() []*get {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Clone(g.waiting[:min(len(g.waiting), maxTogether)])
	g.waiting = slices.Delete(g.waiting, 0, len(all))
	return all
}

// send answers all, who may be nobody: another one has taken them, or they have left.
func (g *gets) send(all []*get) {
	if len(all) == 0 {
		return
	}
	rows, err := g.together(all)
	for i, r := range all {
		if r.err = err; err == nil {
			r.row = rows[i]
		}
	}
	if err != nil && len(all) > 1 && !passes(err) && !connectionLost(err) {
		for _, r := range all { // one of them is to blame: its row may be damaged, or its table not to be read
			g.send([]*get{r})
		}
		return
	}
	for _, r := range all {
		close(r.done)
	}
}

// together sends gets in one message.
func (g *gets) together(all []*get) ([][]any, error) {
	s, err := g.views.connect(context.Background(), all[len(all)-1].until)
	if err != nil {
		return nil, err
	}
	calls := make([]sqldoc.Call, len(all))
	for i, r := range all {
		calls[i] = r.Call
	}
	rows, err := askTogether(s.pinned, calls)
	if err = s.mean(err); err != nil && len(all) > 1 {
		err = shared{err}
	}
	s.release(err == nil)
	return rows, err
}

// shared is the error of a message of several Views.
type shared struct{ error }

func (s shared) Unwrap() error { return s.error }
