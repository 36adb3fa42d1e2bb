package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A run whose turns fail because of itself, and not of the store, is tried again: by the next
// check, or by whoever takes it over from a process that it took down. So that no run stops the
// others for ever, it is set aside after some turns in a row. They are counted in its entry of
// the list of unfinished runs, since the process that tries may not live to count. A run that
// nothing is held against has no entry to count in, and costs nothing.

// maxTurns is how many turns in a row may fail.
const maxTurns = 3

// suspects are the runs whose last turn failed, or that were taken over while they held a slot.
type suspects struct {
	// turn holds one value while a turn of one of them is tried: a process that one of them
	// takes down was at no other's.
	turn chan struct{}
	list sync.Mutex
	runs map[runrepo.Ref]bool
}

func (e *Engine) isSuspect(ref runrepo.Ref) bool {
	e.suspects.list.Lock()
	defer e.suspects.list.Unlock()
	return e.suspects.runs[ref]
}

func (e *Engine) suspect(ref runrepo.Ref, is bool) {
	e.suspects.list.Lock()
	defer e.suspects.list.Unlock()
	if is {
		e.suspects.runs[ref] = true
	} else {
		delete(e.suspects.runs, ref)
	}
}

// careful counts a turn of a suspect before it is tried; the turn's own transaction takes that
// back. done ends the turn. Their turns follow each other.
func (e *Engine) careful(ref runrepo.Ref) (done func(), err error) {
	if !e.isSuspect(ref) {
		return func() {}, nil
	}
	select {
	case e.suspects.turn <- struct{}{}:
	case <-e.life.Done():
		return nil, e.life.Err()
	}
	done = func() { <-e.suspects.turn }
	err = e.store.Update(store.Urgent(context.Background()), func(tx store.Tx) error {
		if e.lease != nil {
			if err := e.lease.Check(tx); err != nil {
				return err
			}
		}
		return e.runs.Tries(tx, ref)
	})
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// acquit takes a counted turn back in the transaction that commits it. The outcome of a step is
// progress: nothing is held against its run any more.
func (e *Engine) acquit(tx store.Tx, ref runrepo.Ref, event run.Event) error {
	switch event.(type) {
	case run.Returned:
		if e.isSuspect(ref) {
			return e.runs.Forgive(tx, ref)
		}
	case run.Resumed:
		if e.isSuspect(ref) {
			return e.runs.Succeeded(tx, ref)
		}
	}
	return nil
}

// notCommitted follows on an event that was given up. The turn of an outcome has failed maxTurns
// times in a row by then: its step would only be sent again, and asked for again, for the same end.
func (e *Engine) notCommitted(ref runrepo.Ref, event run.Event, err error, counted bool) {
	if isOutcome(event) && !e.ofTheStore(err) && e.life.Err() == nil && e.setAside(ref) == nil {
		return
	}
	e.turnFailed(ref, err, counted)
}

// turnFailed holds a failed turn against its run, unless the store failed or the run isn't this
// process's any more, or it was counted before it was tried.
func (e *Engine) turnFailed(ref runrepo.Ref, err error, counted bool) {
	if counted || e.ofTheStore(err) {
		return
	}
	e.suspect(ref, true)
	if done, err := e.careful(ref); err == nil {
		done()
	}
}

// turnError is an error of a run's turn itself, and not of the store.
type turnError struct{ error }

func (e turnError) Unwrap() error { return e.error }

// longTurn is longer than a turn takes whose store is well. A database ends a transaction that
// stands still, and then its error doesn't say whose fault it was.
const longTurn = 5 * time.Second

// turn makes a run's turn, and tells an error of its own from one of the store.
func (e *Engine) turn(ctx context.Context, fn func(tx store.Tx) error) error {
	var own error
	var took time.Duration
	err := e.store.Update(ctx, func(tx store.Tx) error {
		began := time.Now()
		own = fn(tx)
		took = time.Since(began)
		return own
	})
	passing := errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrInDoubt)
	if err != nil && (own != nil && !passing || took >= longTurn) {
		return turnError{err}
	}
	return err
}

// ofTheStore reports an error that says nothing about the run. A record that can't be read says
// something of each run whose turn reads it, its own or, say, its budget's.
func (e *Engine) ofTheStore(err error) bool {
	var own turnError
	if !errors.As(err, &own) || errors.Is(err, errNotOurs) || errors.Is(err, errExecuting) || errors.Is(err, errOrphaned) || errors.Is(err, errNoHolder) {
		return true
	}
	select {
	case <-e.store.Failed():
		return true
	case <-e.fenced:
		return true
	default:
		return false
	}
}

// setAside sets a run aside whose turns have failed too often. It judges nothing. If even that
// can't be committed, the run loses its slot, and the next start tries again.
func (e *Engine) setAside(ref runrepo.Ref) error {
	var moved runrepo.Moved
	err := e.turn(context.Background(), func(tx store.Tx) (err error) {
		if _, err := e.mayApply(tx, ref, run.Resumed{}); err != nil {
			return err
		}
		moved, err = e.runs.Apply(tx, ref, nil, run.SetAside{}, runrepo.System)
		return err
	})
	switch {
	case err == nil:
		e.log.Error("run set aside: its turns failed again and again", "tenant", ref.Tenant, "run", ref.RunID)
		e.suspect(ref, false)
		e.announce(moved, nil)
	case e.ofTheStore(err):
	case runrepo.Unreadable(err):
		e.strand(ref, runrepo.NotReadable)
	default:
		e.strand(ref, "its changes can't be stored, not even that it is set aside")
	}
	return err
}

// takeUpStranded takes the stranded runs up whose records can be read and stored again. It runs
// at each start.
func (e *Engine) takeUpStranded() {
	var stranded []records.Unfinished
	err := e.store.View(context.Background(), func(tx store.Tx) (err error) {
		stranded, err = runrepo.Stranded(tx)
		return err
	})
	if err != nil {
		e.log.Error("can't look for stranded runs", "error", err)
	}
	for _, u := range stranded {
		ref := runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID}
		var moved runrepo.Moved
		err := e.turn(context.Background(), func(tx store.Tx) (err error) {
			moved = runrepo.Moved{}
			if _, err := e.mayApply(tx, ref, run.SetAside{}); err != nil {
				return err
			}
			moved, err = e.runs.TakeUp(tx, ref)
			return err
		})
		if err != nil {
			e.log.Error("run is still stranded", "tenant", ref.Tenant, "run", ref.RunID, "error", err)
		} else if moved.Run != nil {
			e.log.Warn("stranded run set aside", "tenant", ref.Tenant, "run", ref.RunID)
			e.announce(moved, nil)
		}
	}
}

// goOn goes on with a run that was taken over, as with a suspect: it may be what took the process
// before down.
func (e *Engine) goOn(taken *runrepo.LoadedRun) error {
	ref := taken.Ref
	if !run.HoldsSlot(taken.Run()) {
		e.Drive(taken)
		return nil
	}
	spent, err := e.accuse(ref)
	if err == nil && spent {
		return e.setAside(ref)
	}
	e.Drive(taken)
	return err
}

// accuse makes a run a suspect whose process has ended. The end counts as a turn that failed, once:
// nobody counted its turns before.
func (e *Engine) accuse(ref runrepo.Ref) (spent bool, err error) {
	e.suspect(ref, true)
	err = e.store.Update(context.Background(), func(tx store.Tx) error {
		tries, err := runrepo.Tried(tx, ref)
		if spent = tries >= maxTurns; err != nil || tries > 0 {
			return err
		}
		return e.runs.Tries(tx, ref)
	})
	return spent, err
}

// spent reports a run whose turns have failed too often.
func (e *Engine) spent(ref runrepo.Ref) (bool, error) {
	tries := 0
	err := e.store.View(context.Background(), func(tx store.Tx) (err error) {
		tries, err = runrepo.Tried(tx, ref)
		return err
	})
	return tries >= maxTurns, err
}
