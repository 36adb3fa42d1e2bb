// Package merkle computes the hashes of the audit log: the leaf hash of a record and
// the tree hash (contract 9; RFC 6962 as in golang.org/x/mod/sumdb/tlog). The service
// and the verifiers of exports use it.
package merkle

import (
	"encoding/hex"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// Tree is a log's size and the roots of its complete subtrees, largest first. That is
// all an append needs, so its cost does not depend on the size.
type Tree struct {
	Size  int64    `json:"size"`
	Roots []string `json:"roots"`
}

// Add appends a leaf: equal subtrees merge as the carry of a binary counter.
func (t *Tree) Add(leaf tlog.Hash) { t.AddEach(leaf, func(int, tlog.Hash) {}) }

// AddEach is Add, and calls completed with the root of each subtree that the leaf completes, from
// level 1 upwards: the last complete one of 2^level leaves.
func (t *Tree) AddEach(leaf tlog.Hash, completed func(level int, root tlog.Hash)) {
	node, level := leaf, 0
	for n := t.Size; n&1 == 1; n >>= 1 {
		last := len(t.Roots) - 1
		node = tlog.NodeHash(ParseHash(t.Roots[last]), node)
		t.Roots = t.Roots[:last]
		level++
		completed(level, node)
	}
	t.Roots = append(t.Roots, hex.EncodeToString(node[:]))
	t.Size++
}

// Hash is the RFC 6962 root over all leaves, lowercase hex.
func (t *Tree) Hash() string {
	if t.Size == 0 {
		return countersign.SHA256Hex(nil)
	}
	node := ParseHash(t.Roots[len(t.Roots)-1])
	for i := len(t.Roots) - 2; i >= 0; i-- {
		node = tlog.NodeHash(ParseHash(t.Roots[i]), node)
	}
	return hex.EncodeToString(node[:])
}

// ParseHash parses a hash in hex; invalid input gives a hash that never verifies.
func ParseHash(s string) (h tlog.Hash) {
	_, _ = hex.Decode(h[:], []byte(s))
	return h
}

// noHash stands where the hash of a record will be.
var noHash = strings.Repeat("0", hex.EncodedLen(tlog.HashSize))

// Seal returns a record's leaf hash, which covers its JSON without the hash, and the
// document that is stored and exported, which ends with the hash. The name that lists give
// its actor is no part of either. The record is changed meanwhile, and left as it was.
func Seal(r *countersign.AuditRecord) (leaf tlog.Hash, doc []byte, err error) {
	was, name := r.Hash, r.ActorName
	r.Hash, r.ActorName = noHash, ""
	doc, err = countersign.Marshal(r)
	r.Hash, r.ActorName = was, name
	if err != nil {
		return leaf, nil, err
	}
	const member, end = `,"hash":"`, `"}`
	at := len(doc) - len(member) - len(noHash) - len(end) // all before is what the hash covers
	doc[at] = '}'
	leaf = tlog.RecordHash(doc[:at+1])
	doc[at] = member[0]
	hex.Encode(doc[at+len(member):], leaf[:])
	return leaf, doc, nil
}
