package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// life is one store over several kills: its callers, what the service acknowledged and showed, and the last state that
// was read.
type life struct {
	*bed
	picture *picture
	before  []*delivery // earlier lines of R, on the same store
	from    int         // the position in R after them
	rand    *rand.Rand  // for callers that act alone

	mu       sync.Mutex
	promises []promise
	kept     int // number of promises that were checked once
	seen     seen
	script   []string
	faults   []string

	starters []*starter
	beaters  []*beater
	editors  []*editor
	words    int // makes every reason and evidence unique
}

// seen has what answers showed that must never change again.
type seen struct {
	ended   map[string]json // ended runs
	waiting map[string]json // PENDING approvals
}

func newLife(t *testing.T, b *bed) *life {
	l := &life{bed: b, picture: newPicture(), from: len(b.shop.deliveries(0)), rand: rand.New(rand.NewPCG(1, 1)), seen: seen{ended: map[string]json{}, waiting: map[string]json{}}}
	l.starters = []*starter{{life: l, name: "a"}, {life: l, name: "b"}, {life: l, name: "c"}}
	for i, agent := range b.agents {
		l.beaters = append(l.beaters, &beater{life: l, agent: agent, instance: fmt.Sprintf("i-%d", i)})
	}
	l.editors = []*editor{{life: l, model: "edit-0"}, {life: l, model: "edit-1"}}
	t.Cleanup(l.tell)
	return l
}

// tell logs what happened before a fault.
func (l *life) tell() {
	const shown = 120
	if l.t.Failed() {
		l.t.Logf("what happened, the latest last:\n%s", strings.Join(l.script[max(0, len(l.script)-shown):], "\n"))
	}
}

// note adds a line to the script, the log of what happened.
func (l *life) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.script = append(l.script, time.Now().Format("15:04:05.000000 ")+fmt.Sprintf(format, args...))
}

// fault records a violation.
func (l *life) fault(format string, args ...any) {
	l.note("FAULT "+format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

func (l *life) word() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words++
	return fmt.Sprintf("word-%d", l.words)
}

// ask sends a request and checks the answer; nil means that no answer came, so that it is not known whether the request
// was carried out.
func (l *life) ask(who *harness.Client, method, path string, body any, headers ...harness.Header) *harness.Answer {
	a, err := who.Try(method, path, body, headers...)
	switch {
	case err != nil:
		l.note("%s %s: no answer", method, path)
		return nil
	case method != "GET" || a.Status != 200:
		l.note("%s %s: %d %s %s", method, path, a.Status, a.At("error").Text()+a.At("status").Text(), a.At("id").Text())
	}
	if a.Status == 500 {
		l.fault("C3: %s", a)
	}
	return a
}

// active checks the limit in one consistent read.
func (l *life) active(where string, n int) {
	const limit = 4
	if n > limit {
		l.fault("S3: %s shows %d READY or RUNNING runs", where, n)
	}
}

// saw records what may not change any more in a run.
func (l *life) saw(run json) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := run.At("id").Text(); ended(run.At("status").Text()) && !l.seen.ended[id].Exists() {
		l.seen.ended[id] = run
	}
}

func (l *life) sawWaiting(approval json) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := approval.At("id").Text(); approval.At("status").Text() == "PENDING" && !l.seen.waiting[id].Exists() {
		l.seen.waiting[id] = approval
	}
}

// storm lets all callers act until the service has died; end kills it.
func (l *life) storm(r *rand.Rand, d *countdown, end func()) {
	var people sync.WaitGroup
	for _, act := range l.people() {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		people.Go(func() {
			for act(own) {
				d.count()
			}
		})
	}
	end()
	people.Wait()
}

// people are the callers: each does one thing at a time, and stops when the service doesn't answer.
func (l *life) people() (acts []func(*rand.Rand) bool) {
	for _, s := range l.starters {
		acts = append(acts, s.act)
	}
	for _, b := range l.beaters {
		acts = append(acts, b.act)
	}
	for _, e := range l.editors {
		acts = append(acts, e.act)
	}
	return append(acts, l.decide, l.reconcile, l.cancel, l.watch)
}
