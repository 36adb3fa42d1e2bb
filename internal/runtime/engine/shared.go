package engine

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Lease is this process's right to execute runs on a store that other processes use too.
// See package lease.
type Lease interface {
	ID() string
	// Check refuses a transaction of a process that others consider dead.
	Check(tx store.Tx) error
	// Hold waits until a call may be sent, and says until when it may.
	Hold(ctx context.Context) (until time.Time, err error)
	Renew(ctx context.Context) error
	Fence(ctx context.Context) error
	Leave(ctx context.Context) error
	// Lost is closed when the lease is lost for good.
	Lost() <-chan struct{}
}

// Share makes the engine one of several on its store. It is called before Start;
// the run repository must name the same process as the owner of what it starts.
func (e *Engine) Share(l Lease, every time.Duration) {
	e.lease, e.every, e.fenced = l, every, l.Lost()
}

// checkInterval is how often a process looks for runs that nobody executes.
const checkInterval = time.Second

// keepLease renews the lease until calls in flight have ended: they need it too.
func (e *Engine) keepLease(end <-chan struct{}) {
	t := time.NewTicker(e.every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := e.lease.Renew(e.life); err != nil && e.life.Err() == nil {
				e.log.Error("lease not renewed", "replica", e.lease.ID(), "error", err)
			}
		case <-end:
			return
		case <-e.fenced:
			return
		}
	}
}

// checkReplicas fences replicas whose lease has ended and takes over their runs.
func (e *Engine) checkReplicas() {
	if err := e.lease.Fence(e.life); err != nil && !e.isHalted() {
		e.log.Error("can't check the other replicas", "error", err)
		return
	}
	e.adoptAll()
	e.checkRuns()
}

// adoptAll takes over every run whose owner is gone, or is cut off from the store: it can't
// send any more, and may still get an answer.
func (e *Engine) adoptAll() {
	orphans, err := e.orphans()
	if err != nil {
		e.log.Error("can't check for runs without a replica", "error", err)
		return
	}
	for _, ref := range orphans {
		if e.isHalted() {
			return
		}
		if err := e.adopt(ref); err != nil {
			e.notApplied(ref, "can't take over run", err)
		}
	}
}

func (e *Engine) orphans() (refs []runrepo.Ref, err error) {
	err = e.store.View(context.Background(), func(tx store.Tx) error {
		refs = nil
		alive, err := records.AllReplicas(tx)
		if err != nil {
			return err
		}
		owners := map[string]bool{}
		for _, r := range alive {
			owners[r.ID] = true
		}
		list, err := runrepo.Owned(tx)
		for _, u := range list {
			if !owners[u.Owner] {
				refs = append(refs, runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID})
			}
		}
		return err
	})
	return refs, err
}

// adopt makes this process the run's owner and applies Restarted, in one commit.
func (e *Engine) adopt(ref runrepo.Ref) error {
	var moved runrepo.Moved
	adopted := false
	err := e.turn(context.Background(), func(tx store.Tx) (err error) {
		moved, adopted = runrepo.Moved{}, false
		if err := e.lease.Check(tx); err != nil {
			return err
		}
		if adopted, err = e.runs.Adopt(tx, ref); err != nil || !adopted {
			return err
		}
		moved, err = e.runs.Apply(tx, ref, nil, run.Restarted{Adopted: true}, runrepo.System)
		return err
	})
	if err == nil && adopted {
		crashpoint.At("engine.adopted", nil)
		e.announce(moved, nil)
		return e.goOn(moved.Run)
	}
	return err
}

// mayApply gives the event that this process may apply. Once other replicas consider it dead that
// is none but an outcome, as evidence. It refuses resuming a run that another replica executes.
func (e *Engine) mayApply(tx store.Tx, ref runrepo.Ref, event run.Event) (run.Event, error) {
	if e.lease == nil {
		return event, nil
	}
	if err := e.lease.Check(tx); err != nil {
		return e.asEvidence(tx, ref, event, err)
	}
	if _, begins := event.(run.Resumed); !begins {
		return event, nil
	}
	mine, err := e.runs.Owns(tx, ref)
	if err == nil && !mine {
		err = errNotOurs
	}
	return event, err
}

// asEvidence lets a process that was taken for dead keep what came of its call, of a run that
// another one has taken over: everybody waited for that. Before that the run still looks as if it
// went on here, and the outcome waits. why is what Check said.
func (e *Engine) asEvidence(tx store.Tx, ref runrepo.Ref, event run.Event, why error) (run.Event, error) {
	outcome, is := event.(run.Returned)
	if !is {
		return event, why
	}
	_, _, err := records.Replicas.Get(tx, store.Realm, records.ReplicaID(e.lease.ID()))
	if !errors.Is(err, store.ErrNotFound) { // it isn't fenced: the store couldn't say
		return event, why
	}
	orphaned, err := e.runs.OwnedHere(tx, ref)
	if err == nil && orphaned {
		err = errOrphaned
	}
	outcome.RecordOnly, outcome.Evidence = true, true
	return outcome, err
}

// errNotOurs ends the execution of a run that another replica executes.
var errNotOurs = errors.New("engine: another replica executes the run")

// errOrphaned keeps an outcome from being stored until another replica has taken its run over.
var errOrphaned = errors.New("engine: this process was taken for dead, and nobody has taken its run over")

// mayCall holds the lease for a call, and says until when it may be sent.
func (e *Engine) mayCall(ctx context.Context) (until time.Time, err error) {
	if e.lease == nil {
		return time.Time{}, nil
	}
	return e.lease.Hold(ctx)
}
