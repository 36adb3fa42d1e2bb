package audit

import (
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// subtree is the n-th complete one of 2^level records.
type subtree struct {
	level int
	n     int64
}

// With a log the hashes of its complete subtrees of tileLevel are kept, which have 256 records
// each, and those of every fourth level above. So a proof needs few hashes however long the log
// is, and the higher levels add few.
const (
	tileLevel = 8
	keptEvery = 4
)

func isKept(level int) bool { return level >= tileLevel && (level-tileLevel)%keptEvery == 0 }

// id is that of the row with its hash in the audit_heads table.
func (s subtree) id() string { return fmt.Sprintf("%02d-%s", s.level, recordID(s.n)) }

// keptHash is the document of such a row.
type keptHash struct {
	Hash string `json:"hash"`
}

// keep writes the hash of a subtree that an append has completed, in the append's commit.
func keep(tx store.Tx, tenant string, at subtree, root tlog.Hash) error {
	doc, err := countersign.Marshal(keptHash{hex.EncodeToString(root[:])})
	if err != nil {
		return err
	}
	return tx.Put(store.AuditHeads, tenant, store.Row{ID: at.id(), Doc: doc, Given: true}, 0)
}

// reading reads the hash of a subtree; false for none.
type reading func(tx store.Tx, tenant string, at subtree) (h tlog.Hash, ok bool, err error)

// kept reads what keep has written. A row that is damaged is none: the hash is computed.
func kept(tx store.Tx, tenant string, at subtree) (h tlog.Hash, ok bool, err error) {
	row, err := store.Look(tx, store.AuditHeads, tenant, at.id())
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	var doc keptHash
	if store.Decode(row.Doc, &doc) != nil {
		return h, false, nil
	}
	return merkle.ParseHash(doc.Hash), true, nil
}

// noneKept has every hash computed of the records.
func noneKept(store.Tx, string, subtree) (h tlog.Hash, ok bool, err error) { return h, false, nil }

// subtrees gives the hashes of complete subtrees for one round of proofs.
type subtrees struct {
	prover *Prover
	tx     store.Tx
	tenant string
	kept   reading
	leaves map[int64][]tlog.Hash // by tile
}

func newSubtrees(p *Prover, tx store.Tx, tenant string, kept reading) *subtrees {
	return &subtrees{prover: p, tx: tx, tenant: tenant, kept: kept, leaves: map[int64][]tlog.Hash{}}
}

// ReadHashes implements tlog.HashReader.
func (s *subtrees) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		h, err := s.hash(subtree{level, n})
		if err != nil {
			return nil, err
		}
		out[i] = h
	}
	return out, nil
}

// hash is the root of a complete subtree.
func (s *subtrees) hash(at subtree) (tlog.Hash, error) {
	if !isKept(at.level) {
		return s.compute(at)
	}
	h, ok := s.prover.hash(s.tenant, at)
	if ok {
		return h, nil
	}
	h, ok, err := s.kept(s.tx, s.tenant, at)
	if err == nil && !ok {
		h, err = s.compute(at)
	}
	if err != nil {
		return h, err
	}
	s.prover.remember(s.tenant, at, h)
	if at.level == tileLevel {
		delete(s.leaves, at.n) // most tiles are wanted for their root alone
	}
	return h, nil
}

func (s *subtrees) compute(at subtree) (tlog.Hash, error) {
	if at.level == 0 {
		leaves, err := s.tileLeaves(at.n >> tileLevel)
		if n := at.n & (1<<tileLevel - 1); err == nil && n < int64(len(leaves)) {
			return leaves[n], nil
		}
		return tlog.Hash{}, firstError(err, errUnproven)
	}
	left, err := s.hash(subtree{at.level - 1, 2 * at.n})
	if err != nil {
		return left, err
	}
	right, err := s.hash(subtree{at.level - 1, 2*at.n + 1})
	return tlog.NodeHash(left, right), err
}

func firstError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// tileLeaves reads the leaf hashes of a tile of up to 256 records.
func (s *subtrees) tileLeaves(tile int64) ([]tlog.Hash, error) {
	if leaves, ok := s.leaves[tile]; ok {
		return leaves, nil
	}
	first := tile << tileLevel
	rows, err := s.tx.List(store.Audit, s.tenant, store.Query{Where: []store.Filter{
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
	s.leaves[tile] = leaves
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
