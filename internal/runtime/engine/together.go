package engine

import (
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// A start begins its run in its own transaction: what the run's first turn would judge and store is
// judged and stored there. So one commit comes before the first call and not two. The call is made
// behind that commit, as every call is.

// together is a run that a start makes and begins, until that is committed or given up. A stop of the
// engine waits for it: what it has begun would otherwise be an intent that nobody carries out.
type together struct {
	engine    *Engine
	ref       runrepo.Ref
	execution *execution
	moved     runrepo.Moved
	settled   func() // for those who wait until the run has moved
}

// Begin applies the first event of a run in the transaction that makes it. nil: the run is only made,
// and Drive begins it. After an error nothing of the transaction may be committed: the run is to be
// made without Begin, and then it is its own turns that fail.
func (e *Engine) Begin(tx store.Tx, made *runrepo.LoadedRun) (runrepo.Begun, error) {
	if !e.reserve() {
		return nil, nil
	}
	t := &together{engine: e, ref: made.Ref, execution: e.begin(made.Ref), settled: e.runs.Moving(made.Ref)}
	event, err := e.mayApply(tx, t.ref, run.Resumed{})
	if err == nil {
		t.moved, err = e.runs.Apply(tx, t.ref, made, event, runrepo.System)
	}
	if err != nil {
		t.Drop()
		return nil, err
	}
	return t, nil
}

// Drop implements runrepo.Begun.
func (t *together) Drop() {
	t.settled()
	t.end()
}

func (t *together) end() {
	t.engine.finish(t.ref, t.execution)
	t.engine.work.Done()
}

// Go implements runrepo.Begun. The execution is registered since before the commit, so a cancel
// behind it ends a read, and nobody takes the run for one that no one executes.
func (t *together) Go() {
	crashpoint.At("engine.committed", run.Resumed{})
	t.engine.announce(t.moved, nil)
	t.settled()
	if t.moved.Call == nil && t.moved.Look == nil { // it waits, has ended, or is held
		t.end()
		return
	}
	go func() {
		defer t.end()
		next := t.engine.perform(t.ref, t.execution, run.Resumed{}, t.moved)
		t.engine.carryOn(t.ref, t.execution, t.moved.Run, next)
	}()
}

// reserve has a stop wait until work.Done; false if the engine stops.
func (e *Engine) reserve() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.stopping {
		e.work.Add(1)
	}
	return !e.stopping
}
