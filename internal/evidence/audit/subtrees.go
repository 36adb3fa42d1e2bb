package audit

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// subtrees computes the hashes of complete subtrees for one round of proofs.
type subtrees struct {
	prover *Prover
	tx     store.Tx
	tenant string
	leaves map[int64][]tlog.Hash // by tile
}

// ReadHashes implements tlog.HashReader.
func (r *subtrees) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		h, err := r.hash(subtree{level, n})
		if err != nil {
			return nil, err
		}
		out[i] = h
	}
	return out, nil
}

// hash is the root of a complete subtree.
func (r *subtrees) hash(at subtree) (tlog.Hash, error) {
	if !isCached(at.level) {
		return r.compute(at)
	}
	if h, ok := r.prover.hash(r.tenant, at); ok {
		return h, nil
	}
	h, err := r.compute(at)
	if err != nil {
		return h, err
	}
	r.prover.remember(r.tenant, at, h)
	if at.level == tileLevel {
		delete(r.leaves, at.n) // most tiles are wanted for their root alone
	}
	return h, nil
}

func (r *subtrees) compute(at subtree) (tlog.Hash, error) {
	if at.level == 0 {
		leaves, err := r.tileLeaves(at.n >> tileLevel)
		if n := at.n & (1<<tileLevel - 1); err == nil && n < int64(len(leaves)) {
			return leaves[n], nil
		}
		return tlog.Hash{}, firstError(err, errUnproven)
	}
	left, err := r.hash(subtree{at.level - 1, 2 * at.n})
	if err != nil {
		return left, err
	}
	right, err := r.hash(subtree{at.level - 1, 2*at.n + 1})
	return tlog.NodeHash(left, right), err
}

func firstError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// tileLeaves reads the leaf hashes of a tile of up to 256 records.
func (r *subtrees) tileLeaves(tile int64) ([]tlog.Hash, error) {
	if leaves, ok := r.leaves[tile]; ok {
		return leaves, nil
	}
	first := tile << tileLevel
	rows, err := r.tx.List(store.Audit, r.tenant, store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{recordID(first)}},
		{Column: "id", Op: store.AtMost, Values: []any{recordID(first + 1<<tileLevel - 1)}},
	}})
	if err != nil {
		return nil, err
	}
	leaves := make([]tlog.Hash, len(rows))
	for i, row := range rows {
		if leaves[i], err = sealedHash(row); err != nil {
			return nil, err
		}
	}
	r.leaves[tile] = leaves
	return leaves, nil
}

// sealedHash is the hash at the end of a stored record: see merkle.Seal.
func sealedHash(row store.Row) (h tlog.Hash, err error) {
	const end = `"}`
	from := len(row.Doc) - len(end) - 2*tlog.HashSize
	if from < 0 {
		return h, fmt.Errorf("audit record %s: it holds no hash", row.ID)
	}
	return merkle.ParseHash(string(row.Doc[from : len(row.Doc)-len(end)])), nil
}
