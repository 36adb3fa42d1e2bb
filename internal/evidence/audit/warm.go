package audit

import (
	"context"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// warmTiles bounds how many subtrees are read in one snapshot: 4,096 records.
const warmTiles = 16

// IsWarm reports that a proof reads no more in its snapshot than one step of
// [Prover.Warm]: hashes are kept with the log, or enough of them are known. An earlier release
// keeps none, so what it has appended is found by their number, which is counted once.
func (p *Prover) IsWarm(tx store.Tx, tenant string) (bool, error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return false, err
	}
	end := h.Size >> tileLevel
	if end-p.Tiles(tenant) <= warmTiles || p.areKept(tenant) {
		return true, nil
	}
	n, err := tx.Count(store.AuditHeads, tenant, store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{subtree{tileLevel, 0}.id()}},
		{Column: "id", Op: store.AtMost, Values: []any{subtree{tileLevel, end - 1}.id()}},
	}})
	if err != nil || end-int64(n) > warmTiles {
		return false, err
	}
	p.noteKept(tenant)
	return true, nil
}

// Warm computes the hashes of complete subtrees that an earlier release has appended, in
// several snapshots: that may be the whole log, and one long snapshot would keep the
// store's write-ahead log from being reset. The hashes are verified when used, like the rest of
// the cache.
func (p *Prover) Warm(ctx context.Context, tenant string, read Reader) error {
	for at, done := p.Tiles(tenant), false; !done; {
		next := at
		err := read(ctx, func(tx store.Tx) (err error) {
			next, done, err = p.warm(tx, tenant, at) // perhaps more than once
			return err
		})
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// warm continues at a subtree; done when there is none left. It leaves gaps in the log
// to the proof, which refuses them.
func (p *Prover) warm(tx store.Tx, tenant string, at int64) (next int64, done bool, err error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return at, false, err
	}
	end := h.Size >> tileLevel
	for left := warmTiles; at < end && left > 0; at++ {
		if _, known := p.hash(tenant, subtree{tileLevel, at}); known {
			continue
		}
		r := newSubtrees(p, tx, tenant, kept)
		switch _, err := r.hash(subtree{tileLevel, at}); {
		case errors.Is(err, errUnproven):
			return at, true, nil
		case err != nil:
			return at, false, err
		}
		left--
	}
	return at, at >= end, nil
}

// keptAtOnce bounds how many hashes of tiles are written in one commit.
const keptAtOnce = 64

// Keep writes hashes that [Prover.Warm] has computed, so that no later start computes them again:
// of the tiles before the `before`-th, the last ones first, and of the subtrees that end with
// them. It returns where to go on; 0: all are kept.
func (p *Prover) Keep(tx store.Tx, tenant string, before int64) (next int64, err error) {
	r := newSubtrees(p, tx, tenant, noneKept)
	for next = before; next > max(before-keptAtOnce, 0); next-- {
		for level := tileLevel; next&(1<<(level-tileLevel)-1) == 0; level += keptEvery {
			at := subtree{level, next>>(level-tileLevel) - 1}
			switch _, there, err := kept(tx, tenant, at); {
			case err != nil:
				return next, err
			case there:
				continue
			}
			root, err := r.hash(at)
			if err == nil {
				err = keep(tx, tenant, at, root)
			}
			if err != nil {
				return next, err
			}
		}
	}
	return next, nil
}
