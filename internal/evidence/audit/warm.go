package audit

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/storage/store"
)

// warmTiles bounds how many subtrees are read in one snapshot: 4,096 records.
const warmTiles = 16

// IsWarm reports that a proof reads no more in its snapshot than [Prover.Warm] does in
// one of its own.
func (p *Prover) IsWarm(tx store.Tx, tenant string) (bool, error) {
	h, err := loadHead(tx, tenant)
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.Size>>tileLevel-int64(len(p.tiles[tenant])) <= warmTiles, err
}

// Warm reads the hashes of the complete subtrees that the prover doesn't remember, some
// in a snapshot: after a start that is the whole log, and a snapshot that is held for so
// long keeps the store's log from starting over. What it reads is checked when it is
// used, like all that the prover remembers.
func (p *Prover) Warm(ctx context.Context, tenant string, read Reader) error {
	for at, done := int64(0), false; !done; {
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

// warm reads on from a subtree; done when there is none left. A log with a gap is for
// the proof to refuse.
func (p *Prover) warm(tx store.Tx, tenant string, at int64) (next int64, done bool, err error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return at, false, err
	}
	end := h.Size >> tileLevel
	for left := warmTiles; at < end && left > 0; at++ {
		if _, known := p.tile(tenant, at); known {
			continue
		}
		r := &subtrees{prover: p, tx: tx, tenant: tenant, leaves: map[int64][]tlog.Hash{}, known: map[[2]int64]tlog.Hash{}}
		switch _, err := r.hash(tileLevel, at); {
		case errors.Is(err, errUnproven):
			return at, true, nil
		case err != nil:
			return at, false, err
		}
		left--
	}
	return at, at >= end, nil
}
