package audit

import (
	"bytes"
	"errors"
	"slices"
	"sort"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// verifyBatch bounds the memory and duration of one span of a verification.
const verifyBatch = 1000

// Verify recomputes the tree hash of a tenant's whole log in one snapshot. An edited,
// deleted, moved, inserted or cut-off record changes the hash; the damaged record is
// named if it can be identified.
func Verify(tx store.Tx, tenant string) (countersign.AuditVerification, error) {
	for v := (verification{}); ; {
		if done, err := v.span(tx, tenant); done || err != nil {
			return v.result, err
		}
	}
}

// compare compares the recomputed head with the stored one.
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

// firstDifference is the first record of the first complete subtree with another root:
// the head has no more detail.
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

// widths are the sizes of the complete subtrees of a log, largest first.
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

// batch reads the rows after those found, ordered by id and so by sequence number. It
// starts after the last id found, without a bound for the first batch, so that a row
// inserted before the first record or between two is detected. damaged says that the store
// can't read the row after these.
func batch(tx store.Tx, tenant string, found *head) (rows []store.Row, damaged bool, err error) {
	q := store.Query{Limit: verifyBatch}
	if found.Size > 0 {
		q.Where, q.Offset = []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{recordID(found.Size - 1)}}}, 1
	}
	rows, err = tx.List(store.Audit, tenant, q)
	if damaged = errors.Is(err, store.ErrDamaged); damaged {
		rows, err = readable(tx, tenant, q)
	}
	return rows, damaged, err
}

// readable reads as many rows of a list as can be read, in order.
func readable(tx store.Tx, tenant string, q store.Query) (rows []store.Row, err error) {
	sort.Search(q.Limit, func(n int) bool {
		if err != nil {
			return true
		}
		q.Limit = n + 1
		found, failed := tx.List(store.Audit, tenant, q)
		if failed == nil {
			rows = found
		} else if !errors.Is(failed, store.ErrDamaged) {
			err = failed
		}
		return failed != nil
	})
	return rows, err
}

// fits returns the leaf hash of a row if it is intact: at the position of its sequence
// number, with columns and hash that match the record, and no byte added.
func fits(row store.Row, seq int64) (tlog.Hash, bool) {
	var r countersign.AuditRecord
	if store.Decode(row.Doc, &r) != nil || r.Seq != seq || row.ID != recordID(seq) {
		return tlog.Hash{}, false
	}
	leaf, doc, err := merkle.Seal(&r)
	return leaf, err == nil && bytes.Equal(doc, row.Doc) && slices.Equal(row.Keys, columns(&r))
}
