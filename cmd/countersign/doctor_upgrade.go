package main

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// checkUpgrade names what this release means otherwise than the one before, and whether that
// one can still be put back.
func checkUpgrade(ctx context.Context, cfg config) (found []finding) {
	var notices []control.UpgradeNotice
	there, err := peek(ctx, cfg.Store, func(tx store.Tx) (err error) {
		notices, err = control.UpgradeNotices(tx)
		return err
	})
	switch {
	case !there, errors.Is(err, sqlite.ErrBehind):
		return nil // what the other checks report
	case err != nil:
		return []finding{bad("upgrade", "look again; if it stays so, restore a backup", "what this release means otherwise is not known: %v", err)}
	}
	for _, n := range notices {
		found = append(found, warn("upgrade", "look at it, and edit it where it should be otherwise", "tenant %s, %s", n.TenantID, n.Notice))
	}
	return append(found, checkWayBack(ctx, cfg)...)
}

// checkWayBack says whether an earlier release may open the store.
func checkWayBack(ctx context.Context, cfg config) []finding {
	var raised bool
	var err error
	if isShared(cfg.Store) {
		sight, looked := lookAt(ctx, cfg.Store)
		raised, err = sight.Level >= sight.KnownLevel, looked
	} else {
		raised, err = sqlite.Raised(ctx, cfg.Store)
	}
	switch {
	case err != nil:
		return nil // which checkStore reports
	case raised:
		return []finding{fine("way back", "the store holds records of this edition: earlier releases refuse it")}
	}
	return []finding{fine("way back", "an earlier release that knows these tables may still use the store; the first record of this edition, such as a plan of a capability with approval rules, closes it to them")}
}
