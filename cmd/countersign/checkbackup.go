package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/secretfile"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/server/httpapi"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/tools/cli"
)

// checkBackupCommand verifies a backup and, with --listen, serves it read-only.
type checkBackupCommand struct {
	File     string `arg:"" help:"The backup."`
	SHA256   string `name:"sha256" help:"Refuse another file than the one with this digest, as 'backup' printed it." placeholder:"HEX"`
	Identity string `help:"File with the secret key of age, for a backup that is encrypted." placeholder:"FILE"`
	Listen   string `help:"Then serve what is in it at this address, until interrupted." placeholder:"127.0.0.1:8081"`
	cli.Output
}

// Help explains what is served, and to whom.
func (checkBackupCommand) Help() string {
	return "Every page is read, and every audit log is computed anew. With --listen the API answers reads of what the backup holds, to the tokens that were good when it was taken; writes are refused with 503, nothing is sent, and the file stays as it is. Nobody can sign in to the console, which would be a write."
}

// Run verifies the backup and serves it.
func (c *checkBackupCommand) Run(t *cli.Terminal) error {
	return opened(c.File, c.Identity, func(f backupFile) error {
		held, err := inspect(t.Context, f)
		if err != nil {
			return err
		}
		if err := held.is(c.SHA256); err != nil {
			return err
		}
		if err := c.Print(t, held, held.table); err != nil {
			return err
		}
		if err := held.verdict(); err != nil || c.Listen == "" {
			return err
		}
		return current(t.Context, f.plain, func(held *sqlite.Copy) error { return c.serve(t, held) })
	})
}

// current calls fn with a backup that has the tables of this release: the file itself, or a
// migrated copy of a backup by an earlier release.
func current(ctx context.Context, file string, fn func(*sqlite.Copy) error) error {
	held, err := sqlite.OpenCopy(ctx, file)
	if err != nil {
		return err
	}
	if !held.Behind() {
		return fn(held)
	}
	if err := held.Close(); err != nil {
		return err
	}
	return inPrivateDir(func(plain string) error {
		dir := plain + ".store"
		if err := sqlite.Restore(ctx, file, dir, func(*sqlite.Store) error { return nil }); err != nil {
			return err
		}
		if err := sqlite.Backup(ctx, dir, plain, nil); err != nil {
			return err
		}
		held, err := sqlite.OpenCopy(ctx, plain)
		if err != nil {
			return err
		}
		return fn(held)
	})
}

// serve answers reads until it is interrupted, and closes the copy.
func (c *checkBackupCommand) serve(t *cli.Terminal, held *sqlite.Copy) (err error) {
	// Without origins and credentials it can't send anything.
	cfg := config{Listen: c.Listen, Store: c.File, MaxActive: countersign.MaxActiveRuns, Getenv: func(string) string { return "" }, Secrets: secretfile.New(nil)}
	s := &service{cfg: cfg, log: newLog(cfg.LogFormat, t.Errs), store: readOnly{held}, opened: readOnly{held}, metrics: telemetry.NewMetrics(version)}
	s.life, s.end = context.WithCancel(context.Background())
	defer func() { err = errors.Join(err, s.close()) }()
	s.assemble()
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.serves(); err != nil {
		return err
	}
	fmt.Fprintf(t.Errs, "reads are answered at %s%s\nlistening on %s\n", s.publicURL(), httpapi.Prefix, s.address)
	return s.run(t.Context)
}

// readOnly is a backup used as a store.
type readOnly struct{ *sqlite.Copy }

// Update refuses every change.
func (readOnly) Update(context.Context, func(store.Tx) error) error {
	return fmt.Errorf("%w: a backup is only read", store.ErrUnavailable)
}

// Failed returns nil, a channel that is never closed: without writes nothing can fail.
func (readOnly) Failed() <-chan struct{} { return nil }

// Full reports that the store takes no writes.
func (readOnly) Full() bool { return true }
