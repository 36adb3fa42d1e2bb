package runrepo

import (
	"cmp"
	"context"
	"maps"
	"sync"

	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/run"
)

// What costs more than cost.InTurn is judged outside of the store's turns and reads, and
// tenants take turns at it: up to cost.Little in one place and what is more in another, one
// piece of work at a time each. So whoever asks for little waits for a few pieces as small, and
// never for those of whoever asks for much; these let others go first at each cost.Slice.

// judgedAtOnce is how many pieces of work are judged at once in each place.
const judgedAtOnce = 1

// Judge has f judge with a meter of a request, and returns why it couldn't be judged. f is
// called again if it turns out to be much; what it found before is then no result.
func (l *Repository) Judge(ctx context.Context, tenant string, f func(m *cost.Meter)) error {
	m := l.meter(ctx, cost.InTurn, 0)
	if f(m); !m.Over() || ctx.Err() != nil {
		return ctx.Err()
	}
	m = l.meter(ctx, cost.Little, 0)
	if err := l.judgingLittle.Do(ctx, tenant, func() { f(m) }); err != nil || !m.Over() || ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	err := l.judging.DoInPieces(ctx, tenant, func(yield func() error) {
		m = l.meter(ctx, cost.Most, 0).Pausing(yield)
		f(m)
	})
	return cmp.Or(err, m.Err())
}

// meter makes one that remembers compiled patterns.
func (l *Repository) meter(ctx context.Context, most, before int64) *cost.Meter {
	return cost.New(ctx, most, before).With(l.compiled)
}

// Bounds of the compiled patterns in memory: their number, and their instructions, some 100
// bytes each.
const (
	compiledPatterns     = 1024
	compiledInstructions = 100_000
)

// JudgeSteps judges what an event came to, so that Apply finds it until forget is called.
func (l *Repository) JudgeSteps(ctx context.Context, ref Ref, u *run.UnjudgedError) (forget func(), err error) {
	little := &allowance{left: cost.Little}
	var steps map[int]*run.Judgement
	busy := l.judgingLittle.Do(ctx, ref.Tenant, func() {
		steps, err = u.Judge(func(before int64) *cost.Meter {
			return little.take(l.meter(ctx, min(cost.Most, before+little.remains()), before))
		})
	})
	if busy == nil && little.over() && ctx.Err() == nil {
		busy = l.judging.DoInPieces(ctx, ref.Tenant, func(yield func() error) {
			steps, err = u.Judge(func(before int64) *cost.Meter { return l.meter(ctx, cost.Most, before).Pausing(yield) })
		})
	}
	if err := cmp.Or(busy, err); err != nil {
		return nil, err
	}
	return l.judged.keep(ref, steps), nil
}

// allowance is what several meters may count together.
type allowance struct {
	left   int64
	last   *cost.Meter // the one that counts now
	before int64       // what it began with
	ended  bool        // one of the others came to its end
}

func (a *allowance) remains() int64 {
	if a.last != nil {
		a.left -= a.last.Spent() - a.before
		a.ended, a.last = a.ended || a.last.Over(), nil
	}
	return max(0, a.left)
}

func (a *allowance) take(m *cost.Meter) *cost.Meter {
	a.last, a.before = m, m.Spent()
	return m
}

func (a *allowance) over() bool {
	a.remains()
	return a.ended
}

// judgedSteps are steps of runs that somebody is about to move. They are few: each is kept
// as long as one event is applied.
type judgedSteps struct {
	mu   sync.Mutex
	runs map[Ref]*keptSteps
}

type keptSteps struct {
	steps map[int]*run.Judgement // never changed
	users int
}

func (j *judgedSteps) keep(ref Ref, steps map[int]*run.Judgement) (forget func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.runs[ref]
	if k == nil {
		k = &keptSteps{}
		j.runs[ref] = k
	}
	all := maps.Clone(k.steps)
	if all == nil {
		all = map[int]*run.Judgement{}
	}
	maps.Copy(all, steps)
	k.steps = all
	k.users++
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(j.runs, ref)
		}
	}
}

func (j *judgedSteps) of(ref Ref) map[int]*run.Judgement {
	j.mu.Lock()
	defer j.mu.Unlock()
	if k := j.runs[ref]; k != nil {
		return k.steps
	}
	return nil
}
