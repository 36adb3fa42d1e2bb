// Package measured is a store that tells how long its changes take, as figures
// and as spans of whatever waits for them.
package measured

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/storage/store"
)

// committing is a store that knows how many commits it made: several changes may
// share one.
type committing interface{ Commits() int64 }

// behind is a store that writes rows to their tables later than it commits them.
type behind interface{ Lag() int64 }

// New makes a store on another one. It knows of changes what the one below knows, and logs why
// the store can't be read or written, and when it can again.
func New(below store.Store, f *telemetry.Metrics, t *telemetry.Traces, log *slog.Logger) store.Store {
	if c, knows := below.(committing); knows {
		f.Counter("countersign_store_commits_total", "Commits of the store by this process, each shared by the changes that waited together.", c.Commits)
	}
	if b, is := below.(behind); is {
		f.Gauge("countersign_store_lag_bytes", "Committed rows that are in the journal and not in their tables yet, in bytes of memory.", b.Lag)
	}
	s := &measured{Store: below, figures: f, traces: t, log: log}
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
	log     *slog.Logger
	full    atomic.Bool // it was logged that the disk is full
	writes  outage
	reads   outage
}

// Update implements store.Store.
func (m *measured) Update(ctx context.Context, fn func(store.Tx) error) error {
	ctx, span := m.traces.Transaction(ctx)
	began := time.Now()
	err := m.Store.Update(ctx, fn)
	m.figures.Updated(err, time.Since(began))
	if err != nil {
		span.Failed()
	}
	span.End()
	m.tellFull(ctx, err)
	if !errors.Is(err, store.ErrFull) {
		m.writes.tell(ctx, m.log, "the store can't be written: changes are refused", "the store can be written again", err)
	}
	return err
}

// View implements store.Store.
func (m *measured) View(ctx context.Context, fn func(store.Tx) error) error {
	err := m.Store.View(ctx, fn)
	m.reads.tell(ctx, m.log, "the store can't be read", "the store can be read again", err)
	return err
}

// tellFull logs, once each time, that the disk is full, and that the store writes again.
func (m *measured) tellFull(ctx context.Context, err error) {
	switch {
	case errors.Is(err, store.ErrFull) && m.full.CompareAndSwap(false, true):
		m.log.WarnContext(ctx, "the store's disk is full: writes are refused", "error", err)
	case err == nil && m.full.Load() && !m.Full() && m.full.CompareAndSwap(true, false):
		m.log.InfoContext(ctx, "the store's disk has space again: writes go on")
	}
}
