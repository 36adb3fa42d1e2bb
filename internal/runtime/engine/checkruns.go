package engine

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// repeat does something again and again until the engine stops.
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

// checkRuns drives on the runs of this process that hold a slot and that nobody drives,
// since an error ended their drive; gives free slots that nobody took; and ends the
// reads of runs that were cancelled at another process.
func (e *Engine) checkRuns() {
	called := e.called() // before the list is read, so that each run of these was in it
	active, idle, err := e.holders()
	if err != nil {
		e.log.Error("runs that nobody drives not looked for", "error", err)
		return
	}
	endGone(called, active)
	if idle {
		if err := e.store.Update(context.Background(), e.runs.Grant); err != nil {
			e.log.Error("free slots not given", "error", err)
		}
	}
	for ref, owner := range active {
		if e.isHalted() {
			return
		}
		if e.isOurs(owner) && !e.isExecuting(ref) {
			if err := e.resume(ref); err != nil {
				e.notMoved(ref, "run not driven on", err)
			}
		}
	}
}

// called gives the drives of this process that have begun a call.
func (e *Engine) called() map[*execution]runrepo.Ref {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := map[*execution]runrepo.Ref{}
	for ref, drives := range e.driven {
		for d := range drives {
			if d.calling {
				out[d] = ref
			}
		}
	}
	return out
}

// holders are the runs that hold a slot, with their owners. idle reports queued runs
// beside free slots.
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

// endGone ends the reads of runs that hold no slot any more.
func endGone(called map[*execution]runrepo.Ref, active map[runrepo.Ref]string) {
	for d, ref := range called {
		if _, is := active[ref]; !is {
			d.end()
		}
	}
}

// errDriven ends the resuming of a run that is driven by now.
var errDriven = errors.New("engine: the run is driven")

// resume drives on a run whose drive has ended. What it had in flight is lost, as
// after a crash. Whether somebody drives it is asked in the transaction: a drive is
// noted before it commits its first intent.
func (e *Engine) resume(ref runrepo.Ref) error {
	var moved runrepo.Moved
	var was *runrepo.LoadedRun
	err := e.store.Update(context.Background(), func(tx store.Tx) (err error) {
		moved = runrepo.Moved{}
		if err := e.mayApply(tx, ref, run.Resumed{}); err != nil {
			return err
		}
		if e.isExecuting(ref) {
			return errDriven
		}
		if was, err = e.runs.Load(tx, ref); err != nil {
			return err
		}
		moved, err = e.runs.Apply(tx, ref, was, run.Restarted{Untended: true}, runrepo.System)
		return err
	})
	if errors.Is(err, errDriven) || errors.Is(err, errNotOurs) {
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
	return len(e.driven[ref]) > 0
}

// notMoved logs why a run could not be moved. One whose records can't be read gives
// its slot back: it would hold it for ever.
func (e *Engine) notMoved(ref runrepo.Ref, what string, err error) {
	e.log.Error(what, "tenant", ref.Tenant, "run", ref.RunID, "error", err)
	if !runrepo.Unreadable(err) {
		return
	}
	stranded := false
	err = e.store.Update(context.Background(), func(tx store.Tx) (err error) {
		if e.lease != nil {
			if err := e.lease.Check(tx); err != nil {
				return err
			}
		}
		stranded, err = e.runs.StopUnreadable(tx, ref)
		return err
	})
	if err != nil || stranded {
		e.log.Error("run stranded: its records can't be read", "tenant", ref.Tenant, "run", ref.RunID, "freed", err == nil, "error", err)
	}
}
