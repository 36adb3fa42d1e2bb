// Package engine executes runs: it applies an event through the run repository, commits,
// and only then makes the call, whose outcome is the next event. It remembers nothing but
// what is in flight, so that a crash loses no state. It must not know the use cases, nor
// any particular store or client.
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

// Publisher is told once of every run that a commit changed, before the run's next event
// is applied. Where the engine and a person change a run at the same time, the later
// revision may be published first: a Publisher then drops the earlier one (see
// updates.Hub).
type Publisher interface {
	Publish(tenant string, r *countersign.Run)
}

// Engine executes the runs of one process.
type Engine struct {
	store   store.Store
	runs    *runrepo.Repository
	caller  Caller
	publish Publisher
	log     *slog.Logger

	traces *telemetry.Traces // nil: tracing is off

	lease Lease         // nil: no other process uses the store
	every time.Duration // between two renewals

	fenced <-chan struct{} // closed when the lease is lost; nil without one

	leaseEnd chan struct{} // ends the renewing
	renewing sync.WaitGroup

	life   context.Context // ends when calls in flight must be cut off
	kill   context.CancelFunc
	work   sync.WaitGroup
	halted chan struct{} // closed when nothing new may begin

	mu         sync.Mutex
	stopping   bool
	executions map[runrepo.Ref]map[*execution]struct{}

	suspects  suspects
	questions questions
}

// execution is one call of execute. Its context is that of the reads which it sends, and
// ends when the run does.
type execution struct {
	ctx context.Context
	end context.CancelFunc

	calling bool // a call was begun; under the engine's mu

	// under is the call of a side effect that is under way, or whose outcome isn't stored; under
	// the engine's mu.
	under *run.Call

	step string          // the step of the last call, "" before the first
	span *telemetry.Span // of that step; nil: tracing is off
}

// New makes an engine. Start begins its work.
func New(s store.Store, l *runrepo.Repository, c Caller, p Publisher, log *slog.Logger) *Engine {
	e := &Engine{store: s, runs: l, caller: c, publish: p, log: log,
		halted: make(chan struct{}), executions: map[runrepo.Ref]map[*execution]struct{}{}, suspects: suspects{turn: make(chan struct{}, 1), runs: map[runrepo.Ref]bool{}}}
	e.life, e.kill = context.WithCancel(context.Background())
	return e
}

// Wake loads a run and executes what is left of it. Waking a run twice is harmless.
func (e *Engine) Wake(ref runrepo.Ref) {
	e.spawn(func() { e.execute(ref, nil) })
}

// Drive is Wake for a run as a commit has just left it: it isn't read again, and one that
// is not active takes no transaction. If it has ended, so do its reads in flight.
func (e *Engine) Drive(moved *runrepo.LoadedRun) {
	e.questions.notice(moved)
	if !run.HoldsSlot(moved.Run()) {
		e.endReads(moved)
		return
	}
	e.spawn(func() { e.execute(moved.Ref, moved) })
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

// execute goes on with a run until it waits or ends. loaded is the run as it was last seen, nil to
// load it.
func (e *Engine) execute(ref runrepo.Ref, loaded *runrepo.LoadedRun) {
	d := e.begin(ref)
	defer e.finish(ref, d)
	e.carryOn(ref, d, loaded, run.Resumed{})
}

// carryOn applies an event and performs what that allows, until the run waits or ends: each turn
// commits the outcome of one step together with the intent to send the next. A nil event is none.
func (e *Engine) carryOn(ref runrepo.Ref, d *execution, loaded *runrepo.LoadedRun, event run.Event) {
	defer func() { d.span.End() }()
	for event != nil {
		counted := e.isSuspect(ref)
		moved, err := e.apply(d.span.In(context.Background()), ref, loaded, event)
		if errors.Is(err, errNotOurs) {
			return
		}
		if err != nil {
			if isOutcome(event) || !e.isHalted() {
				e.executionFailed(d, ref, event, err)
				e.notCommitted(ref, event, err, counted)
			}
			return
		}
		d.endSpan(event, moved)
		loaded, event = moved.Run, e.perform(ref, d, event, moved)
	}
}

// perform does what the commit of an event has allowed, and gives the event that follows from it:
// nil where the run waits or has ended, or is left to whoever takes it over.
func (e *Engine) perform(ref runrepo.Ref, d *execution, event run.Event, moved runrepo.Moved) run.Event {
	if moved.Look != nil {
		looked, err := e.look(ref, d, moved.Look)
		if err != nil || e.life.Err() != nil {
			return nil // whoever takes the run over looks again
		}
		return looked
	}
	if moved.Call == nil && nextStepDeferred(event, moved) {
		return run.Resumed{}
	}
	if moved.Call == nil {
		e.endReads(moved.Run)
		return nil
	}
	e.startSpan(d, moved)
	outcome, err := e.call(ref, d, moved.Call)
	if err != nil { // the lease is lost: the replica that takes over finds the intent
		e.executionFailed(d, ref, nil, err)
		return nil
	}
	crashpoint.At("engine.returned", moved.Call.Request.Method)
	if !moved.Call.SideEffect && e.life.Err() != nil {
		return nil // the stop cut this read off: the next start sends it again
	}
	return run.Returned{Step: moved.Call.Step, Attempt: moved.Call.Attempt, Outcome: outcome}
}

// nextStepDeferred reports an outcome that was committed alone, without beginning the next
// step, because the disk is full or the engine stops.
func nextStepDeferred(event run.Event, m runrepo.Moved) bool {
	return isOutcome(event) && m.Run.Run().Status == countersign.RunRunning && run.HoldsSlot(m.Run.Run())
}

func isOutcome(event run.Event) bool {
	_, is := event.(run.Returned)
	return is
}

// apply commits an event and publishes the result. An outcome must not be lost: while the
// store can't write, it is retried. It may use the space reserved on a full disk
// (store.Urgent), but then no further step begins with it.
func (e *Engine) apply(ctx context.Context, ref runrepo.Ref, loaded *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	diskFull, alone := e.store.Full(), false
	var counted func()
	defer func() {
		if counted != nil {
			counted()
		}
	}()
	failed := 0
	for wait := minRetry; ; wait = min(2*wait, maxRetry) {
		if outcome, is := event.(run.Returned); is {
			outcome.RecordOnly = diskFull || alone
			event = outcome
		}
		var moved runrepo.Moved
		var err error
		if counted == nil {
			counted, err = e.careful(ref)
		}
		if err == nil {
			moved, err = e.applyIn(ctx, ref, loaded, event)
		}
		var unjudged *run.UnjudgedError
		if errors.As(err, &unjudged) {
			if isOutcome(event) { // it is stored at once, and the next step judged after it
				alone = true
				continue
			}
			forget, err := e.runs.JudgeSteps(e.life, ref, unjudged)
			if err != nil {
				return moved, err
			}
			defer forget()
			continue
		}
		if err != nil && !e.ofTheStore(err) {
			failed++
		}
		if !mayPass(err, event) || failed > 0 && !isOutcome(event) || failed >= maxTurns || !e.pause(wait, event) {
			return moved, err
		}
		if !diskFull && !errors.Is(err, store.ErrUnavailable) {
			e.log.Error("outcome not stored, trying again", "tenant", ref.Tenant, "run", ref.RunID, "error", err)
		}
		diskFull = true
	}
}

// mayPass reports an error after which an event is retried. For an outcome that is any
// error that isn't permanent: losing an answer is worse than holding a slot for some time. One
// that isn't the store's is the run's own, and ends the retries soon.
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

// pause waits before a retry; false when the store has failed, the lease is lost or the
// engine stops. A stop waits for outcomes only, and so does a process that others took for dead,
// until it is cut off: other events are left to the next start, or to the others.
func (e *Engine) pause(d time.Duration, event run.Event) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	halted, fenced := e.halted, e.fenced
	if isOutcome(event) {
		halted, fenced = nil, nil
	}
	select {
	case <-t.C:
		return true
	case <-halted:
		return false
	case <-e.store.Failed():
		return false
	case <-fenced:
		return false
	case <-e.life.Done():
		return false
	}
}

func (e *Engine) applyOnce(ref runrepo.Ref, loaded *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	for {
		moved, err := e.applyIn(context.Background(), ref, loaded, event)
		var unjudged *run.UnjudgedError
		if !errors.As(err, &unjudged) {
			return moved, err
		}
		forget, err := e.runs.JudgeSteps(e.life, ref, unjudged)
		if err != nil {
			return moved, err
		}
		defer forget()
	}
}

func (e *Engine) applyIn(ctx context.Context, ref runrepo.Ref, loaded *runrepo.LoadedRun, event run.Event) (runrepo.Moved, error) {
	var moved runrepo.Moved
	if isOutcome(event) {
		ctx = store.Urgent(ctx)
	}
	defer e.runs.Moving(ref)()
	err := e.turn(ctx, func(tx store.Tx) error {
		event, err := e.mayApply(tx, ref, event)
		if err != nil {
			return err
		}
		if moved, err = e.runs.Apply(tx, ref, loaded, event, runrepo.System); err != nil {
			return err
		}
		e.callStored(ref, event)
		return e.acquit(tx, ref, event)
	})
	crashpoint.At("engine.committed", event)
	if err != nil {
		return runrepo.Moved{}, err
	}
	if isOutcome(event) || !run.HoldsSlot(moved.Run.Run()) {
		e.suspect(ref, false)
	}
	e.announce(moved, loaded)
	return moved, nil
}

// announce publishes what was committed and executes the runs that got a slot.
func (e *Engine) announce(moved runrepo.Moved, was *runrepo.LoadedRun) {
	e.questions.notice(moved.Run)
	e.runs.Observe(moved)
	if moved.Run != was {
		e.runs.Committed(moved.Run)
		e.publish.Publish(moved.Run.Ref.Tenant, moved.Run.Run())
	}
	for _, other := range moved.Others {
		e.runs.Committed(other)
		e.publish.Publish(other.Ref.Tenant, other.Run())
		e.Drive(other)
	}
}

// call makes one call. A cancel ends a read early, and never a side effect.
func (e *Engine) call(ref runrepo.Ref, d *execution, c *run.Call) (request.Outcome, error) {
	until, err := e.mayCall(e.life)
	if err != nil {
		return request.Outcome{}, err
	}
	out := c.Call
	out.Tenant, out.SendBefore = ref.Tenant, until
	// However late it begins, the call ends by AnswerBy, after which a person may say what
	// became of it. If no time is left it isn't sent.
	out.Timeout = min(out.Timeout, max(1, c.AnswerBy.Sub(e.runs.Now())))
	e.mu.Lock()
	d.calling = true
	if c.SideEffect {
		d.under = c
	}
	e.mu.Unlock()
	if c.SideEffect {
		return e.caller.Call(d.span.In(e.life), out), nil
	}
	return e.caller.Call(d.span.In(d.ctx), out), nil
}

// Calls reports that this process has a side effect of a run under way, whatever the clock says.
func (e *Engine) Calls(ref runrepo.Ref) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for d := range e.executions[ref] {
		if d.under != nil {
			return true
		}
	}
	return false
}

// callStored notes, in the transaction that stores the outcome of a call, that it isn't under way.
func (e *Engine) callStored(ref runrepo.Ref, event run.Event) {
	outcome, is := event.(run.Returned)
	if !is {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for d := range e.executions[ref] {
		if d.under != nil && d.under.Step == outcome.Step && d.under.Attempt == outcome.Attempt {
			d.under = nil
		}
	}
}

// begin registers an execution before it commits anything, so that a cancel between the
// commit of a read's intent and its sending ends the read too.
func (e *Engine) begin(ref runrepo.Ref) *execution {
	d := &execution{}
	d.ctx, d.end = context.WithCancel(e.life)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.executions[ref] == nil {
		e.executions[ref] = map[*execution]struct{}{}
	}
	e.executions[ref][d] = struct{}{}
	return d
}

func (e *Engine) finish(ref runrepo.Ref, d *execution) {
	d.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.executions[ref], d)
	if len(e.executions[ref]) == 0 {
		delete(e.executions, ref)
	}
}

// endReads ends the reads in flight of a run that has ended.
func (e *Engine) endReads(h *runrepo.LoadedRun) {
	if !h.Run().Status.IsTerminal() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for d := range e.executions[h.Ref] {
		d.end()
	}
}
