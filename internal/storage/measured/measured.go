// Package measured is a store that tells how long its changes take, as figures
// and as spans of whatever waits for them.
package measured

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/storage/store"
)

// committing is a store that knows how many commits it made: several changes may
// share one.
type committing interface{ Commits() int64 }

// behind is a store that writes rows to their tables later than it commits them.
type behind interface{ Lag() int64 }

// New makes a store on another one. It knows of changes what the one below knows.
func New(below store.Store, f *telemetry.Metrics, t *telemetry.Traces) store.Store {
	if c, knows := below.(committing); knows {
		f.Counter("countersign_store_commits_total", "Commits of the store by this process, each shared by the changes that waited together.", c.Commits)
	}
	if b, is := below.(behind); is {
		f.Gauge("countersign_store_lag_bytes", "Committed rows that are in the journal and not in their tables yet, in bytes of memory.", b.Lag)
	}
	s := &measured{below, f, t}
	if changing, knows := below.(store.Changing); knows {
		return struct {
			*measured
			store.Changing
		}{s, changing}
	}
	return s
}

type measured struct {
	store.Store
	figures *telemetry.Metrics
	traces  *telemetry.Traces
}

// Update implements store.Store.
func (s *measured) Update(ctx context.Context, fn func(store.Tx) error) error {
	ctx, span := s.traces.Transaction(ctx)
	began := time.Now()
	err := s.Store.Update(ctx, fn)
	s.figures.Updated(err, time.Since(began))
	if err != nil {
		span.Failed()
	}
	span.End()
	return err
}
