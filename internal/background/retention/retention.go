// Package retention archives runs that ended long ago. It writes each batch into a file
// that never changes, records the file's digest in the audit log, and deletes the runs in
// the same commit. Only a redaction replaces a file, by one without what the run held. The audit log stays, and for each run the answer to a repeated start with
// its idempotency key (contract 6, 10).
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// Config has the settings of the archiver.
type Config struct {
	Keep       time.Duration // how long a run stays after its end
	Dir        string        // the directory of the files, with a folder for each tenant
	Now        func() time.Time
	Log        *slog.Logger
	Unreadable *unreadable.Records
	Receipt    Receipt // nil: no receipts are filed
}

// How often the archiver runs, and the bounds of one file and one commit.
const (
	leastPause = 250 * time.Millisecond
	mostPause  = time.Minute
	batchRuns  = 100
	batchBytes = 8 << 20
)

// Archiver archives runs between Start and Stop.
type Archiver struct {
	cfg    Config
	store  store.Store
	runs   *runrepo.Repository
	rounds *periodic.Task
}

// New makes an archiver.
func New(cfg Config, s store.Store, l *runrepo.Repository) *Archiver {
	return &Archiver{cfg: cfg, store: s, runs: l}
}

// Start starts to archive runs periodically.
func (a *Archiver) Start() {
	a.rounds = periodic.Start(min(max(a.cfg.Keep/4, leastPause), mostPause), func(ctx context.Context) {
		if err := a.Pass(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Log.Error("runs not archived", "error", err)
		}
	})
}

// Stop returns when the last pass has ended.
func (a *Archiver) Stop() { a.rounds.Stop() }

// Pass archives every run that is due now. What goes wrong with one tenant's runs keeps those
// of no other.
func (a *Archiver) Pass(ctx context.Context) error {
	return a.cfg.Unreadable.EachTenant(ctx, a.store, "archive", func(tenant string) error { return a.tenant(ctx, tenant) })
}

// tenant archives batch after batch. After each it pauses for as long as the batch took, to
// leave the store to others.
func (a *Archiver) tenant(ctx context.Context, tenant string) error {
	for _, status := range ended {
		skip := 0
		for more := true; more; {
			began := time.Now()
			b, err := a.find(ctx, tenant, status, skip)
			if err == nil && len(b.runs) > 0 {
				err = a.archive(ctx, b)
			}
			if errors.Is(err, errTaken) {
				return nil // who has it goes on with this tenant
			}
			if err != nil {
				return err
			}
			if skip, more = skip+b.passed, b.more; more && !periodic.Pause(ctx, time.Since(began)) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// archive writes the file of a batch and then deletes its runs. A crash between the two
// leaves a file that no audit record names; the runs are still stored and are archived
// again.
func (a *Archiver) archive(ctx context.Context, b *batch) error {
	if err := a.cfg.prove(ctx, b); err != nil {
		return err
	}
	doc, err := b.encode()
	if err != nil {
		return err
	}
	f := fileOf(b.tenant, b.runs[0].held.Run(), doc)
	if err := f.write(a.cfg.Dir); err != nil {
		return fmt.Errorf("archive %s: %w", f.name, err)
	}
	crashpoint.At("archive.written", nil)
	if err := a.store.Update(ctx, func(tx store.Tx) error { return b.remove(tx, a.runs, f, a.cfg.Now()) }); err != nil {
		if errors.Is(err, errMoved) || errors.Is(err, errTaken) { // nobody can commit this file any more, and what it holds may have been redacted
			err = errors.Join(err, f.removeUnnamed(ctx, a.store, a.cfg.Dir, b.tenant, b.runs[0].held.Run().ID))
		}
		return err
	}
	crashpoint.At("archive.committed", nil)
	a.cfg.Log.Info("runs archived", "tenant", b.tenant, "runs", len(b.runs), "file", f.name, "sha256", f.sha256)
	return nil
}
