package audit

import (
	"bytes"
	"errors"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/merkle"
	"github.com/countersign/countersign/internal/store"
)

// verifyBatch bounds the memory that a verification holds.
const verifyBatch = 1000

// Verify reads a tenant's whole log and computes its tree hash anew. An edited,
// deleted, moved, inserted or cut-off record makes it differ from the head, and
// where a single record gives itself away it is named.
func Verify(tx store.Tx, tenant string) (countersign.AuditVerification, error) {
	h, err := loadHead(tx, tenant)
	switch {
	case errors.Is(err, errHead):
		return broken(countersign.AuditVerification{}, 0), nil
	case err != nil:
		return countersign.AuditVerification{}, err
	}
	v := countersign.AuditVerification{Records: h.Size, Head: h.Hash()}
	found := &head{}
	for {
		rows, err := batch(tx, tenant, found)
		if err != nil {
			return v, err
		}
		for _, row := range rows {
			leaf, ok := fits(row, found.Size)
			if !ok {
				return broken(v, found.Size), nil
			}
			found.Add(leaf)
		}
		if len(rows) < verifyBatch {
			break
		}
	}
	return compare(v, h, found), nil
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
