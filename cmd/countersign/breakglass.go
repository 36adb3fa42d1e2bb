package main

import (
	"errors"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/runtime/lease"
	"github.com/countersign/countersign/internal/tools/cli"
)

// breakGlass takes a tenant's weakening away on the stopped store: on a shared one once no replica
// holds a lease any more.
func breakGlass(t *cli.Terminal, directory, tenant, reason string) error {
	ctx := t.Context
	cfg, err := understand(settings{Store: directory, Listen: "127.0.0.1:0"}, t.Environ)
	if err != nil {
		return err
	}
	if err := unmigrated(ctx, cfg.Store); err != nil {
		return err
	}
	st, err := openStore(ctx, cfg.Store)
	if err != nil {
		return err
	}
	if isShared(cfg.Store) {
		if _, err := lease.Vacate(ctx, st); err != nil {
			if errors.Is(err, lease.ErrAlive) {
				err = cli.Unusablef("%s: %v: stop all replicas first", shownStore(cfg.Store), err)
			}
			return errors.Join(err, st.Close())
		}
	}
	use := control.New(control.Config{NewID: newID, NewSecret: newSecret, Now: now}, toWrite(st), nil, nil, nil, nil, newLog(cfg.LogFormat, t.Errs))
	err = use.BreakGlass(ctx, tenant, reason)
	return errors.Join(err, st.Close())
}
