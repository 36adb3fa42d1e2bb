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

// pollEvery is how long a viewer at this replica may wait for what another one
// committed.
const pollEvery = 500 * time.Millisecond

// join makes this process one of the replicas of a shared store. A copy that was
// begun to it since it was opened is seen here; one that begins later sees this
// process's record, and is refused.
func (s *service) join(ctx context.Context) error {
	if !isShared(s.cfg.Store) {
		return nil
	}
	joined, err := lease.Join(ctx, s.store, newID("replica"), version)
	if err != nil {
		return err
	}
	if err := complete(ctx, s.store, s.cfg.Store); err != nil {
		return errors.Join(err, joined.Leave(ctx))
	}
	s.lease = joined
	return nil
}

// replica is this process's name among those that share its store, "" where it is
// alone.
func (s *service) replica() string {
	if s.lease == nil {
		return ""
	}
	return s.lease.ID()
}

// lost is closed when other replicas have taken this one for dead.
func (s *service) lost() <-chan struct{} {
	if s.lease == nil {
		return nil
	}
	return s.lease.Lost()
}

// reading reads runs for those who watch them here.
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
