package engine

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// Start recovers the runs that an earlier process left, then executes runs and expires
// approvals until Stop. It returns when recovery is committed.
func (e *Engine) Start(ctx context.Context) error {
	if e.lease != nil {
		return e.startShared(ctx)
	}
	owned, err := e.owned(ctx)
	if err != nil {
		return err
	}
	for _, ref := range owned {
		_, err := e.applyOnce(ref, nil, run.Restarted{})
		if runrepo.Unreadable(err) {
			e.notApplied(ref, "can't recover run", err) // and go on with the others
			continue
		}
		if err != nil {
			return err
		}
	}
	// The limit may be higher than before, so that queued runs get a slot.
	if err := e.store.Update(ctx, e.runs.Grant); err != nil {
		return err
	}
	crashpoint.At("engine.recovered", nil)
	if owned, err = e.owned(ctx); err != nil {
		return err
	}
	for _, ref := range owned {
		if spent, err := e.accuse(ref); err == nil && spent { // it may be what ended the process before
			_ = e.setAside(ref) // it logs; the next check tries again
			continue
		}
		e.Wake(ref)
	}
	e.takeUpStranded()
	e.repeat(expiryInterval, e.expireAllDue)
	e.repeat(checkInterval, e.checkRuns)
	e.beginAsking()
	return nil
}

// startShared takes over runs whose owner's lease has ended, now and later, and leaves
// alone those of live processes.
func (e *Engine) startShared(ctx context.Context) error {
	if err := e.store.Update(ctx, e.runs.Grant); err != nil {
		return err
	}
	e.leaseEnd = make(chan struct{})
	e.renewing.Go(func() { e.keepLease(e.leaseEnd) })
	e.adoptAll()
	crashpoint.At("engine.recovered", nil)
	if mine, err := e.owned(ctx); err == nil { // those that Grant gave a slot
		for _, ref := range mine {
			e.Wake(ref)
		}
	}
	e.takeUpStranded()
	e.repeat(checkInterval, e.checkReplicas)
	e.repeat(expiryInterval, e.expireAllDue)
	e.beginAsking()
	e.repeat(scanInterval, e.askOthers)
	return nil
}

func (e *Engine) beginAsking() {
	e.spawn(e.askOnce)
	e.repeat(askInterval, e.askDue)
}

// owned lists the runs that hold a slot, or whose call may still be answered: only these
// can have been interrupted.
func (e *Engine) owned(ctx context.Context) ([]runrepo.Ref, error) {
	var refs []runrepo.Ref
	err := e.store.View(ctx, func(tx store.Tx) error {
		refs = nil
		list, err := runrepo.Owned(tx)
		for _, u := range list {
			refs = append(refs, runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID})
		}
		return err
	})
	return refs, err
}

// Stop begins nothing new, lets calls in flight finish within their own timeout
// and at most the grace, and returns when their outcomes are committed. What
// could not finish is recovered at the next start.
func (e *Engine) Stop(grace time.Duration) {
	e.mu.Lock()
	e.stopping = true
	e.mu.Unlock()
	e.runs.StopSteps()
	close(e.halted)
	done := make(chan struct{})
	go func() { e.work.Wait(); close(done) }()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	e.kill()
	<-done
	e.leave()
}

// leave gives the lease back, so that other replicas needn't wait for its end.
func (e *Engine) leave() {
	if e.lease == nil || e.leaseEnd == nil {
		return
	}
	close(e.leaseEnd)
	e.renewing.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), checkInterval)
	defer cancel()
	if err := e.lease.Leave(ctx); err != nil {
		e.log.Error("can't give the lease back", "replica", e.lease.ID(), "error", err)
	}
}
