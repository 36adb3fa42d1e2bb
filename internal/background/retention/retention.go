// Package retention archives runs that ended long ago: each batch goes into a file
// that nobody changes any more, whose digest the audit log holds, and only then out
// of the store. What stays is the audit log, and of each run what a repeat of its
// idempotency key is answered with (contract 6, 10).
package retention

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Config is what the archiver is told by the settings.
type Config struct {
	Keep time.Duration // how long a run stays after its end
	Dir  string        // where the files go, in a folder a tenant
	Now  func() time.Time
	Log  *slog.Logger
}

// How often it looks, and what one file and one commit hold at most.
const (
	leastPause = 250 * time.Millisecond
	mostPause  = time.Minute
	batchRuns  = 100
	batchBytes = 8 << 20
)

// Archiver archives. Start begins, Stop ends it.
type Archiver struct {
	cfg    Config
	store  store.Store
	ledger *runrepo.Repository
	rounds *periodic.Task
}

// New makes an archiver.
func New(cfg Config, s store.Store, l *runrepo.Repository) *Archiver {
	return &Archiver{cfg: cfg, store: s, ledger: l}
}

// Start begins to look for runs that are due.
func (a *Archiver) Start() {
	a.rounds = periodic.Start(min(max(a.cfg.Keep/4, leastPause), mostPause), func(ctx context.Context) {
		if err := a.Pass(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Log.Error("runs not archived", "error", err)
		}
	})
}

// Stop returns when nothing is written any more.
func (a *Archiver) Stop() { a.rounds.Stop() }

// Pass archives every run that is due now.
func (a *Archiver) Pass(ctx context.Context) error {
	tenants, err := a.tenants(ctx)
	for _, tenant := range tenants {
		if err == nil {
			err = a.tenant(ctx, tenant)
		}
	}
	return err
}

func (a *Archiver) tenants(ctx context.Context) (ids []string, err error) {
	err = a.store.View(ctx, func(tx store.Tx) error {
		ids = nil
		list, err := records.Tenants.List(tx, store.Realm, store.Query{})
		for _, t := range list {
			ids = append(ids, t.ID)
		}
		return err
	})
	return ids, err
}

// tenant archives one batch after the other. Between two it leaves the store to
// others for as long as it took.
func (a *Archiver) tenant(ctx context.Context, tenant string) error {
	for _, status := range ended {
		skip := 0
		for more := true; more; {
			began := time.Now()
			b, err := a.find(ctx, tenant, status, skip)
			if err == nil && len(b.runs) > 0 {
				err = a.archive(ctx, b)
			}
			if err != nil {
				return fmt.Errorf("tenant %s: %w", tenant, err)
			}
			if skip, more = skip+b.passed, b.more; more && !periodic.Pause(ctx, time.Since(began)) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// archive files a batch and then takes it out of the store. A crash between the two
// leaves a file that no record names, and its runs where they were: they are filed
// again.
func (a *Archiver) archive(ctx context.Context, b *batch) error {
	doc, err := b.encode()
	if err != nil {
		return err
	}
	f := fileOf(b, doc)
	if err := f.write(a.cfg.Dir); err != nil {
		return fmt.Errorf("archive %s: %w", f.name, err)
	}
	if err := a.store.Update(ctx, func(tx store.Tx) error { return b.remove(tx, f, a.cfg.Now()) }); err != nil {
		return err
	}
	a.cfg.Log.Info("runs archived", "tenant", b.tenant, "runs", len(b.runs), "file", f.name, "sha256", f.sha256)
	return nil
}
