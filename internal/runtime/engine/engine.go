// Package engine drives runs: it applies an event through the run repository, commits,
// and only then performs the effect, whose outcome is the next event. It keeps
// no state that a crash could lose; what it remembers is what is in flight.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// Caller sends one request and says what became of it. It must send at most
// once, and return when ctx ends.
type Caller interface {
	Call(ctx context.Context, c request.Call) request.Outcome
}

// Publisher is told of every run that a commit moved, of each once, before anybody
// drives the run on. Two who move a run at the same time, an engine and a person,
// tell of it each behind its own commit: the later revision can be the first to come,
// and a Publisher passes on none behind it (see live.Hub).
type Publisher interface {
	Publish(tenant string, r *countersign.Run)
}

// Engine drives the runs of one process.
type Engine struct {
	store   store.Store
	runs    *runrepo.Repository
	caller  Caller
	publish Publisher
	log     *slog.Logger

	traces *telemetry.Traces // nil: nobody traces

	lease Lease         // nil: the store is this process's alone
	every time.Duration // between two renewals

	fenced <-chan struct{} // closed when the lease is lost; nil without one

	leaseEnd chan struct{} // ends the renewing
	renewing sync.WaitGroup

	life   context.Context // ends when calls in flight must end
	kill   context.CancelFunc
	work   sync.WaitGroup
	halted chan struct{}

	mu       sync.Mutex
	stopping bool
	driven   map[runrepo.Ref]map[*execution]struct{}
}

// execution is one turn of driving a run. Its context is that of the reads which it
// sends: it ends when the run does.
type execution struct {
	ctx context.Context
	end context.CancelFunc

	calling bool // a call was begun; under the engine's mu

	step string          // whose call is or was under way, "" before the first
	span *telemetry.Span // its own, nil when nobody traces
}

// New makes an engine. Start begins its work.
func New(s store.Store, l *runrepo.Repository, c Caller, p Publisher, log *slog.Logger) *Engine {
	e := &Engine{store: s, runs: l, caller: c, publish: p, log: log,
		halted: make(chan struct{}), driven: map[runrepo.Ref]map[*execution]struct{}{}}
	e.life, e.kill = context.WithCancel(context.Background())
	return e
}

// Wake tells the engine that a run was started or moved, so that it is driven
// on, or a read in flight of a cancelled run is ended. Waking a run twice is
// harmless.
func (e *Engine) Wake(ref runrepo.Ref) {
	e.spawn(func() { e.execute(ref) })
}

// spawn runs f unless the engine stops.
func (e *Engine) spawn(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping {
		return
	}
	e.work.Go(f)
}

// execution applies the event and goes on until the run stands still: each turn
// commits the outcome of one step together with the intent of the next.
func (e *Engine) execute(ref runrepo.Ref) {
	d := e.begin(ref)
	defer e.finish(ref, d)
	defer func() { d.span.End() }()
	var held *runrepo.LoadedRun
	var event run.Event = run.Resumed{}
	for {
		moved, err := e.apply(d.span.In(context.Background()), ref, held, event)
		if errors.Is(err, errNotOurs) {
			return
		}
		if err != nil {
			if isOutcome(event) || !e.isHalted() {
				e.executionFailed(d, ref, err)
			}
			return
		}
		d.endSpan(event, moved)
		if moved.Call == nil && heldBack(event, moved) {
			held, event = moved.Run, run.Resumed{}
			continue
		}
		if moved.Call == nil {
			e.endReads(ref, moved.Run)
			return
		}
		e.startSpan(d, moved)
		outcome, err := e.call(ref, d, moved.Call)
		if err != nil { // the lease: whoever has taken over knows of the intent
			e.executionFailed(d, ref, err)
			return
		}
		crashpoint.At("engine.returned", moved.Call.Request.Method)
		if !moved.Call.SideEffect && e.life.Err() != nil {
			return // a read that the stop cut off is executed again at the next start
		}
		held, event = moved.Run, run.Returned{Step: moved.Call.Step, Attempt: moved.Call.Attempt, Outcome: outcome}
	}
}

// heldBack reports an outcome that was committed without the step that follows.
func heldBack(event run.Event, m runrepo.Moved) bool {
	return isOutcome(event) && m.Run.Run().Status == countersign.RunRunning
}

func isOutcome(event run.Event) bool {
	_, is := event.(run.Returned)
	return is
}

// apply commits what an event comes to, and tells those who watch. While the
// store can't write, an outcome is kept and tried again: it must not be lost. It
// may be written where nothing else may (store.Urgent), but then alone: a full
// disk is no place to begin the next step.
func (e *Engine) apply(ctx context.Context, ref runrepo.Ref, held *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	tight := e.store.Full()
	for wait := minRetry; ; wait = min(2*wait, maxRetry) {
		if outcome, is := event.(run.Returned); is {
			outcome.RecordOnly = tight
			event = outcome
		}
		moved, err := e.applyIn(ctx, ref, held, event)
		if !mayPass(err, event) || !e.pause(wait, event) {
			return moved, err
		}
		if !tight && !errors.Is(err, store.ErrUnavailable) {
			e.log.Error("outcome not stored, trying again", "tenant", ref.Tenant, "run", ref.RunID, "error", err)
		}
		tight = true
	}
}

// mayPass reports an error after which an event is tried again: for an outcome any but
// those that stay, since an answer is worth more than a slot.
func mayPass(err error, event run.Event) bool {
	if err == nil || errors.Is(err, errNotOurs) || runrepo.Unreadable(err) {
		return false
	}
	return isOutcome(event) || errors.Is(err, store.ErrUnavailable)
}

const (
	minRetry = 50 * time.Millisecond
	maxRetry = time.Second
)

// pause waits before a retry; false when the store or the engine is at its end. A
// stop waits for outcomes alone: what would begin a step is left to the next start.
func (e *Engine) pause(d time.Duration, event run.Event) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	halted := e.halted
	if isOutcome(event) {
		halted = nil
	}
	select {
	case <-t.C:
		return true
	case <-halted:
		return false
	case <-e.store.Failed():
		return false
	case <-e.fenced:
		return false
	case <-e.life.Done():
		return false
	}
}

func (e *Engine) applyOnce(ref runrepo.Ref, held *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	return e.applyIn(context.Background(), ref, held, event)
}

func (e *Engine) applyIn(ctx context.Context, ref runrepo.Ref, held *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	var moved runrepo.Moved
	if isOutcome(event) {
		ctx = store.Urgent(ctx)
	}
	err := e.store.Update(ctx, func(tx store.Tx) error {
		if err := e.mayApply(tx, ref, event); err != nil {
			return err
		}
		var err error
		moved, err = e.runs.Apply(tx, ref, held, event, runrepo.System)
		return err
	})
	crashpoint.At("engine.committed", event)
	if err != nil {
		return runrepo.Moved{}, err
	}
	e.announce(moved, held)
	return moved, nil
}

// announce publishes what was committed and drives the runs that got a slot.
func (e *Engine) announce(moved runrepo.Moved, was *runrepo.LoadedRun) {
	e.runs.Observe(moved)
	if moved.Run != was {
		e.runs.Committed(moved.Run)
		e.publish.Publish(moved.Run.Ref.Tenant, moved.Run.Run())
	}
	for _, other := range moved.Others {
		e.publish.Publish(other.Ref.Tenant, other.Run())
		e.Wake(other.Ref)
	}
}

// call performs one call. A read can be ended early by a cancel; a side effect
// never is.
func (e *Engine) call(ref runrepo.Ref, d *execution, c *run.Call) (request.Outcome, error) {
	until, err := e.mayCall(e.life)
	if err != nil {
		return request.Outcome{}, err
	}
	out := c.Call
	out.Tenant, out.SendBefore = ref.Tenant, until
	// However late the call begins, it ends while a resolution still waits for it; where
	// nothing is left of its time it isn't sent.
	out.Timeout = min(out.Timeout, max(1, c.AnswerBy.Sub(e.runs.Now())))
	e.mu.Lock()
	d.calling = true
	e.mu.Unlock()
	if c.SideEffect {
		return e.caller.Call(d.span.In(e.life), out), nil
	}
	return e.caller.Call(d.span.In(d.ctx), out), nil
}

// begin notes a drive before it commits anything, so that a cancel which comes
// between the commit of a read's intent and its sending ends the read too.
func (e *Engine) begin(ref runrepo.Ref) *execution {
	d := &execution{}
	d.ctx, d.end = context.WithCancel(e.life)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.driven[ref] == nil {
		e.driven[ref] = map[*execution]struct{}{}
	}
	e.driven[ref][d] = struct{}{}
	return d
}

func (e *Engine) finish(ref runrepo.Ref, d *execution) {
	d.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.driven[ref], d)
	if len(e.driven[ref]) == 0 {
		delete(e.driven, ref)
	}
}

// endReads ends the read in flight of a run that has ended meanwhile.
func (e *Engine) endReads(ref runrepo.Ref, h *runrepo.LoadedRun) {
	if !h.Run().Status.IsTerminal() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for d := range e.driven[ref] {
		d.end()
	}
}
