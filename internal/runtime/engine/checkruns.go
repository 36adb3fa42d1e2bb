package engine

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// repeat calls do at an interval until the engine stops.
func (e *Engine) repeat(every time.Duration, do func()) {
	e.spawn(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				do()
			case <-e.halted:
				return
			}
		}
	})
}

// checkRuns resumes this process's active runs whose execution an error has ended, gives
// free slots to queued runs, and ends the reads of runs that another process cancelled.
func (e *Engine) checkRuns() {
	called := e.called() // before the list is read: each of these runs was active then
	active, idle, err := e.holders()
	if err != nil {
		e.log.Error("can't check for runs that nobody executes", "error", err)
		return
	}
	endReadsOfEnded(called, active)
	if idle {
		if err := e.store.Update(context.Background(), e.runs.Grant); err != nil {
			e.log.Error("can't give free slots to queued runs", "error", err)
		}
	}
	for ref, owner := range active {
		if e.isHalted() {
			return
		}
		if e.isOurs(owner) && !e.isExecuting(ref) {
			if err := e.resumeHolder(ref); err != nil {
				e.notApplied(ref, "can't resume run", err)
				e.turnFailed(ref, err, false)
			}
		}
	}
}

// resumeHolder resumes a run that still holds its slot. Most runs that nobody executes have
// ended since the list was read. They are passed by a read: a transaction for each would have
// the runs wait that go on.
func (e *Engine) resumeHolder(ref runrepo.Ref) error {
	holds := false
	err := e.store.View(context.Background(), func(tx store.Tx) (err error) {
		holds, err = runrepo.Holds(tx, ref)
		return err
	})
	if err != nil || !holds {
		e.suspect(ref, false)
		return err
	}
	if e.isSuspect(ref) {
		if spent, err := e.spent(ref); err != nil || spent {
			if err == nil {
				err = e.setAside(ref)
			}
			return err
		}
	}
	return e.resume(ref)
}

// called gives the executions that have begun a call.
func (e *Engine) called() map[*execution]runrepo.Ref {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[*execution]runrepo.Ref{}
	for ref, all := range e.executions {
		for d := range all {
			if d.calling {
				out[d] = ref
			}
		}
	}
	return out
}

// holders are the runs that hold a slot, with their owners. idle reports free slots while
// runs queue for one.
func (e *Engine) holders() (owners map[runrepo.Ref]string, idle bool, err error) {
	err = e.store.View(context.Background(), func(tx store.Tx) error {
		list, err := runrepo.Holders(tx)
		if err != nil {
			return err
		}
		owners = make(map[runrepo.Ref]string, len(list))
		for _, u := range list {
			owners[runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID}] = u.Owner
		}
		idle, err = e.runs.Idle(tx)
		return err
	})
	return owners, idle, err
}

func (e *Engine) isOurs(owner string) bool { return e.lease == nil || owner == e.lease.ID() }

// endReadsOfEnded ends the reads of runs that no longer hold a slot.
func endReadsOfEnded(called map[*execution]runrepo.Ref, active map[runrepo.Ref]string) {
	for d, ref := range called {
		if _, is := active[ref]; !is {
			d.end()
		}
	}
}

var (
	// errExecuting ends the resuming of a run that is being executed by now.
	errExecuting = errors.New("engine: the run is being executed")
	// errNoHolder ends the resuming of a run that has given its slot back: it has ended, and
	// may be archived, or waits.
	errNoHolder = errors.New("engine: the run holds no slot")
)

// resume goes on with a run whose execution has ended. The outcome of what it had in
// flight is lost, as after a crash. Whether the run is being executed is checked in the
// transaction, since an execution is registered before it commits its first intent.
func (e *Engine) resume(ref runrepo.Ref) error {
	var moved runrepo.Moved
	var was *runrepo.LoadedRun
	err := e.turn(context.Background(), func(tx store.Tx) (err error) {
		moved = runrepo.Moved{}
		if _, err := e.mayApply(tx, ref, run.Resumed{}); err != nil {
			return err
		}
		if e.isExecuting(ref) {
			return errExecuting
		}
		holds, err := runrepo.Holds(tx, ref)
		if err == nil && !holds {
			err = errNoHolder
		}
		if err != nil {
			return err
		}
		if was, err = e.runs.Load(tx, ref); err != nil {
			return err
		}
		moved, err = e.runs.Apply(tx, ref, was, run.Restarted{Untended: true}, runrepo.System)
		return err
	})
	if errors.Is(err, errExecuting) || errors.Is(err, errNotOurs) || errors.Is(err, errNoHolder) {
		return nil
	}
	if err == nil {
		e.announce(moved, was)
		e.Drive(moved.Run)
	}
	return err
}

func (e *Engine) isExecuting(ref runrepo.Ref) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.executions[ref]) > 0
}

// notApplied logs why an event could not be applied. A run whose records can't be read
// gives its slot back, which it would hold forever.
func (e *Engine) notApplied(ref runrepo.Ref, what string, err error) {
	e.log.Error(what, "tenant", ref.Tenant, "run", ref.RunID, "error", err)
	if runrepo.Unreadable(err) {
		e.strand(ref, runrepo.NotReadable)
	}
}

// strand takes the slot of a run that nothing moves until the next start.
func (e *Engine) strand(ref runrepo.Ref, why string) {
	stranded := false
	err := e.store.Update(context.Background(), func(tx store.Tx) (err error) {
		if e.lease != nil {
			if err := e.lease.Check(tx); err != nil {
				return err
			}
		}
		stranded, err = e.runs.Strand(tx, ref, why)
		return err
	})
	if err != nil || stranded {
		e.log.Error("run stranded: "+why, "tenant", ref.Tenant, "run", ref.RunID, "freed", err == nil, "error", err)
	}
}
