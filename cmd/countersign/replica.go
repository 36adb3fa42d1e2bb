package main

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// pollEvery is the interval at which this replica looks for commits of other replicas, for the
// viewers of runs in this process.
const pollEvery = 500 * time.Millisecond

// join makes this process one of the replicas of a shared store. A `store copy` into or of this
// store that began after the store was opened makes join fail; one that begins later finds
// this process's record, and is refused.
func (s *service) join(ctx context.Context) error {
	if !isShared(s.cfg.Store) {
		return nil
	}
	joined, err := lease.Join(ctx, s.store, newID("replica"), version)
	if err != nil {
		return err
	}
	if err := refuseCopied(ctx, s.store, s.cfg.Store); err != nil {
		return errors.Join(err, joined.Leave(ctx))
	}
	s.lease = joined
	return nil
}

// replica is this process's id among those that share its store; "" if the store isn't
// shared.
func (s *service) replica() string {
	if s.lease == nil {
		return ""
	}
	return s.lease.ID()
}

// lost returns a channel that is closed when this process's lease has expired, so that
// other replicas may take over its runs; nil if the store isn't shared.
func (s *service) lost() <-chan struct{} {
	if s.lease == nil {
		return nil
	}
	return s.lease.Lost()
}

// reading returns the function that reads a run for its watchers: nil if it has no version
// above newer.
func (s *service) reading(l *runrepo.Repository) updates.Reader {
	return func(ctx context.Context, tenant, runID string, newer int64) (*countersign.Run, error) {
		var found *countersign.Run
		err := s.store.View(ctx, func(tx store.Tx) error {
			found = nil
			held, err := l.Newer(tx, runrepo.Ref{Tenant: tenant, RunID: runID}, newer)
			if err == nil && held != nil {
				found = held.Run()
			}
			return err
		})
		return found, err
	}
}
