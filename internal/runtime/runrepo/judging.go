package runrepo

import (
	"context"
	"maps"
	"sync"

	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/run"
)

// What costs more than cost.InTurn is judged outside of the store's turns and reads, one
// piece of work at a time, and tenants take turns at it: whoever asks for much waits for
// that, and nobody else does.

// judgedAtOnce is how many pieces of work are judged at once.
const judgedAtOnce = 1

// Judge has f judge with a meter of a request, and returns why it couldn't be judged. f is
// called again if it turns out to be much; what it found before is then no result.
func (l *Repository) Judge(ctx context.Context, tenant string, f func(m *cost.Meter)) error {
	m := l.meter(ctx, cost.InTurn, 0)
	if f(m); !m.Over() || ctx.Err() != nil {
		return ctx.Err()
	}
	m = l.meter(ctx, cost.Most, 0)
	if err := l.judging.Do(ctx, tenant, func() { f(m) }); err != nil {
		return err
	}
	return m.Err()
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
func (l *Repository) JudgeSteps(ctx context.Context, ref Ref, u *run.Unjudged) (forget func(), err error) {
	var steps map[int]*run.Judgement
	busy := l.judging.Do(ctx, ref.Tenant, func() {
		steps, err = u.Judge(func(before int64) *cost.Meter { return l.meter(ctx, cost.Most, before) })
	})
	if busy != nil {
		return nil, busy
	}
	if err != nil {
		return nil, err
	}
	return l.judged.keep(ref, steps), nil
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
