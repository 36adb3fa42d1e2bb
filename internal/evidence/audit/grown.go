package audit

import (
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// Grown is the head of a log at a size, with the proof that it goes on from an earlier one.
type Grown struct {
	Size  int64
	Root  tlog.Hash
	Proof []tlog.Hash // empty from 0 and from Size on
}

// Grown is the head of a tenant's log when it had size records, and the proof that it went on
// from old. The hashes come to the head of the log, or it is an error for which [Broken] holds.
func (p *Prover) Grown(tx store.Tx, tenant string, old, size int64) (Grown, error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return Grown{}, err
	}
	if old < 0 || old > size || size > h.Size {
		return Grown{}, errUnproven
	}
	g, err := p.grown(tx, tenant, h, old, size, kept)
	if errors.Is(err, errUnproven) {
		p.forget(tenant)
		g, err = p.grown(tx, tenant, h, old, size, noneKept)
	}
	return g, err
}

func (p *Prover) grown(tx store.Tx, tenant string, h *head, old, size int64, kept reading) (g Grown, err error) {
	r := newSubtrees(p, tx, tenant, kept)
	root := merkle.ParseHash(h.Hash())
	if g = (Grown{Size: size, Root: root}); size < h.Size {
		if g.Root, err = tlog.TreeHash(size, r); err != nil {
			return g, err
		}
		if err := prefix(r, root, h.Size, g.Root, size); err != nil {
			return g, err
		}
	}
	if old == 0 || old == size {
		return g, nil
	}
	was, err := tlog.TreeHash(old, r)
	if err != nil {
		return g, err
	}
	if g.Proof, err = tlog.ProveTree(size, old, r); err != nil {
		return g, err
	}
	if tlog.CheckTree(g.Proof, size, g.Root, old, was) != nil {
		return g, errUnproven
	}
	return g, nil
}

// prefix checks that a tree is the beginning of a larger one.
func prefix(r tlog.HashReader, root tlog.Hash, size int64, was tlog.Hash, old int64) error {
	if old == 0 {
		return nil
	}
	proof, err := tlog.ProveTree(size, old, r)
	if err != nil {
		return err
	}
	if tlog.CheckTree(proof, size, root, old, was) != nil {
		return errUnproven
	}
	return nil
}
