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
	known  map[[2]int64]tlog.Hash
}

// ReadHashes implements tlog.HashReader.
func (r *subtrees) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		h, err := r.hash(level, n)
		if err != nil {
			return nil, err
		}
		out[i] = h
	}
	return out, nil
}

// hash is the root of the n-th complete subtree of 2^level records.
func (r *subtrees) hash(level int, n int64) (tlog.Hash, error) {
	at := [2]int64{int64(level), n}
	if h, ok := r.known[at]; ok {
		return h, nil
	}
	if level == tileLevel {
		if h, ok := r.prover.tile(r.tenant, n); ok {
			return h, nil
		}
	}
	h, err := r.compute(level, n)
	if err != nil {
		return h, err
	}
	if level >= tileLevel { // below, there would be many, and each is soon made again
		r.known[at] = h
	}
	if level == tileLevel {
		r.prover.remember(r.tenant, n, h)
		delete(r.leaves, n) // most tiles are wanted for their root alone
	}
	return h, nil
}

func (r *subtrees) compute(level int, n int64) (tlog.Hash, error) {
	if level == 0 {
		leaves, err := r.tileLeaves(n >> tileLevel)
		if at := n & (1<<tileLevel - 1); err == nil && at < int64(len(leaves)) {
			return leaves[at], nil
		}
		return tlog.Hash{}, firstError(err, errUnproven)
	}
	left, err := r.hash(level-1, 2*n)
	if err != nil {
		return left, err
	}
	right, err := r.hash(level-1, 2*n+1)
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
