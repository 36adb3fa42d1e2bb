package main

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// deliveries is the receiver's own log: which steps of which runs were delivered, and how often.
type deliveries struct {
	mu   sync.Mutex
	runs map[string]*delivered
	gap  func(due time.Time, d time.Duration) // is told of each gap between two steps
	end  func(due time.Time, d time.Duration) // is told how long each run took, from when it was due
}

// delivered is what the log has of a run.
type delivered struct {
	steps  uint32 // a bit for each step that was delivered
	twice  uint16 // deliveries of a step that had been delivered before
	kind   *planKind
	due    time.Time // when its start was due
	last   time.Time // when the last delivery was answered
	reject bool      // a person rejected it
	unsure bool      // a person decided it and got no answer
	seen   bool      // the check at the end has found it
}

// planKind is one of the plans that are started.
type planKind struct {
	id     string
	steps  int
	before int // steps before its approval, which a rejected run has delivered
}

// all has a bit for each step.
func (k *planKind) all() uint32 { return 1<<k.steps - 1 }

func newDeliveries() *deliveries { return &deliveries{runs: map[string]*delivered{}} }

// of is called with the lock held.
func (l *deliveries) of(run string) *delivered {
	d := l.runs[run]
	if d == nil {
		d = &delivered{}
		l.runs[run] = d
	}
	return d
}

// saw logs a call. The number in a step's id is its place in the run; an "a" before it means
// that the step waited for an approval, so that no gap is measured.
func (l *deliveries) saw(run, step string, arrived, answered time.Time) {
	n, err := strconv.Atoi(step[min(1, len(step)):])
	if err != nil || n < 0 || n > 31 {
		n = 31 // which no plan has: the check at the end says so
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.of(run)
	if d.steps&(1<<n) != 0 {
		d.twice++
	}
	if d.steps != 0 && strings.HasPrefix(step, "s") {
		l.gap(arrived, arrived.Sub(d.last))
	}
	d.steps |= 1 << n
	d.last = answered
	l.ended(d)
}

// started says which plan a run is of.
func (l *deliveries) started(run string, k *planKind, due time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.of(run)
	d.kind, d.due = k, due
	l.ended(d)
}

// ended tells how long a run took. Those that wait for people aren't measured.
func (l *deliveries) ended(d *delivered) {
	if d.kind != nil && d.kind.before == 0 && d.steps == d.kind.all() {
		l.end(d.due, d.last.Sub(d.due))
	}
}

// decided says what a person decided about a run.
func (l *deliveries) decided(run string, reject, unsure bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.of(run)
	d.reject, d.unsure = d.reject || reject, d.unsure || unsure
}

// finished is when the last step of a run was answered; false while there are more to come.
func (l *deliveries) finished(run string) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.runs[run]
	if d == nil || d.kind == nil || d.steps != d.kind.all() {
		return time.Time{}, false
	}
	return d.last, true
}

// recent has the ids of the runs started last.
type recent struct {
	mu  sync.Mutex
	ids []string
	n   int
}

func newRecent(size int) *recent { return &recent{ids: make([]string, size)} }

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[r.n%len(r.ids)] = id
	r.n++
}

// back is the id that was added so many before the last one, "" if there is none.
func (r *recent) back(i int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i >= min(r.n, len(r.ids)) {
		return ""
	}
	return r.ids[(r.n-1-i)%len(r.ids)]
}

// unseen are the runs that the check at the end has not found yet, without earlier ones.
func (l *deliveries) unseen(earlier map[string]bool) (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, d := range l.runs {
		if !d.seen && !earlier[id] {
			ids = append(ids, id)
		}
	}
	return ids
}
