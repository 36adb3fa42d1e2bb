package engine

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// Start recovers what an earlier process left, then drives and watches expiry
// until Stop. It returns when recovery is committed.
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
			e.notMoved(ref, "run not recovered", err) // and all others are
			continue
		}
		if err != nil {
			return err
		}
	}
	// A higher limit than before leaves slots for those who queued under it.
	if err := e.store.Update(ctx, e.runs.Grant); err != nil {
		return err
	}
	crashpoint.At("engine.recovered", nil)
	if owned, err = e.owned(ctx); err != nil {
		return err
	}
	for _, ref := range owned {
		e.Wake(ref)
	}
	e.repeat(expiryBound, e.expireAllDue)
	e.repeat(lookBound, e.checkRuns)
	return nil
}

// startShared leaves alone what other processes drive. What an earlier one left
// is taken over as soon as its lease is over.
func (e *Engine) startShared(ctx context.Context) error {
	if err := e.store.Update(ctx, e.runs.Grant); err != nil {
		return err
	}
	e.renewal = periodic.Start(e.every, func(context.Context) { e.renew() })
	e.adoptAll()
	crashpoint.At("engine.recovered", nil)
	if mine, err := e.owned(ctx); err == nil { // those that Grant gave a slot
		for _, ref := range mine {
			e.Wake(ref)
		}
	}
	e.repeat(lookBound, e.checkReplicas)
	e.repeat(expiryBound, e.expireAllDue)
	return nil
}

// owned lists the runs that hold a slot, or whose call may still be answered: only
// they can have been in the middle of something.
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

// leave gives the lease back, so that the others needn't wait for its end.
func (e *Engine) leave() {
	if e.renewal == nil {
		return
	}
	e.renewal.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), lookBound)
	defer cancel()
	if err := e.lease.Leave(ctx); err != nil {
		e.log.Error("lease not given back", "replica", e.lease.ID(), "error", err)
	}
}
