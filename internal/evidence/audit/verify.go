package audit

import (
	"bytes"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// verifyBatch bounds the memory that a verification holds, and how long a span takes.
const verifyBatch = 1000

// Verify reads a tenant's whole log, in one snapshot, and computes its tree hash anew.
// An edited, deleted, moved, inserted or cut-off record makes it differ from the head,
// and where a single record gives itself away it is named.
func Verify(tx store.Tx, tenant string) (countersign.AuditVerification, error) {
	for v := (verification{}); ; {
		if done, err := v.span(tx, tenant); done || err != nil {
			return v.result, err
		}
	}
}

// compare judges what was found against the head.
func compare(v countersign.AuditVerification, h, found *head) countersign.AuditVerification {
	switch {
	case found.Size != h.Size:
		return broken(v, min(found.Size, h.Size))
	case found.Hash() != h.Hash():
		return broken(v, firstDifference(h, found))
	}
	v.Intact = true
	return v
}

// firstDifference is the first record of the first complete subtree whose root
// differs: the head keeps no more than these roots.
func firstDifference(h, found *head) int64 {
	start := int64(0)
	for i, width := range widths(h.Size) {
		if h.Roots[i] != found.Roots[i] {
			return start
		}
		start += width
	}
	return start
}

// widths are the sizes of the complete subtrees of a log, widest first.
func widths(size int64) []int64 {
	var out []int64
	for bit := int64(1) << 62; bit > 0; bit >>= 1 {
		if size&bit != 0 {
			out = append(out, bit)
		}
	}
	return out
}

func broken(v countersign.AuditVerification, seq int64) countersign.AuditVerification {
	v.FirstBroken = &seq
	return v
}

// batch reads the rows after those found, in the order of their ids, which is that of
// the sequence numbers. Bounds are ids that were seen, and none the first time: a row
// that was put before the first record, or between two, shows too.
func batch(tx store.Tx, tenant string, found *head) ([]store.Row, error) {
	q := store.Query{Limit: verifyBatch}
	if found.Size == 0 {
		return tx.List(store.Audit, tenant, q)
	}
	q.Where, q.Offset = []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{recordID(found.Size - 1)}}}, 1
	return tx.List(store.Audit, tenant, q)
}

// fits gives the leaf hash of a row, if the row is what was once sealed: it
// stands where its sequence number says, its columns and its hash say what the
// record says, and not a byte was added.
func fits(row store.Row, seq int64) (tlog.Hash, bool) {
	var r countersign.AuditRecord
	if store.Decode(row.Doc, &r) != nil || r.Seq != seq || row.ID != recordID(seq) {
		return tlog.Hash{}, false
	}
	leaf, doc, err := merkle.Seal(r)
	return leaf, err == nil && bytes.Equal(doc, row.Doc) && slices.Equal(row.Keys, columns(r))
}
