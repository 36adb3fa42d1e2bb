// Package audit keeps one append-only Merkle log per tenant, and one for the realm,
// in the store: RFC 6962 hashing as in golang.org/x/mod/sumdb/tlog. Records are
// appended in the transaction of the change that they describe (contract 9).
package audit

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// headID is the id of a tenant's single row in the audit_heads table.
const headID = "head"

// head summarizes the earlier records: all that an append needs of them.
type head struct {
	merkle.Tree
	LastAt  time.Time `json:"lastAt"`
	version int64
}

// Append adds records to a tenant's log, in order, with sequence numbers and hashes. A
// record that is earlier than the previous one is marked.
func Append(tx store.Tx, tenant string, records []countersign.AuditRecord) error {
	if len(records) == 0 {
		return nil
	}
	h, err := loadHead(tx, tenant)
	if err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		r.Seq, r.ClockBack = h.Size, r.At.Before(h.LastAt)
		if err := appendRecord(tx, tenant, h, *r); err != nil {
			return err
		}
		h.LastAt = r.At
	}
	return h.save(tx, tenant)
}

func appendRecord(tx store.Tx, tenant string, h *head, r countersign.AuditRecord) error {
	leaf, doc, err := merkle.Seal(r)
	if err != nil {
		return err
	}
	if err := tx.Put(store.Audit, tenant, store.Row{ID: recordID(r.Seq), Doc: doc, Keys: columns(r)}, 0); err != nil {
		return fmt.Errorf("audit record %d: %w", r.Seq, err)
	}
	h.Add(leaf)
	return nil
}

// columns are the indexed columns of a record.
func columns(r countersign.AuditRecord) []any {
	return []any{r.Seq, r.At.UnixMicro(), r.Actor, r.Action, r.Subject}
}

// recordID sorts like the sequence number.
func recordID(seq int64) string { return fmt.Sprintf("%016d", seq) }

func loadHead(tx store.Tx, tenant string) (*head, error) {
	h := &head{}
	row, err := tx.Get(store.AuditHeads, tenant, headID)
	if errors.Is(err, store.ErrNotFound) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	h.version = row.Version
	if store.Decode(row.Doc, h) != nil || h.Size < 0 || len(h.Roots) != bits.OnesCount64(uint64(h.Size)) {
		return nil, errHead
	}
	return h, nil
}

// errHead reports a damaged head. Nothing is appended to such a log, so no operation
// that needs an audit record succeeds.
var errHead = fmt.Errorf("audit: the head of the log: %w", store.ErrDamaged)

func (h *head) save(tx store.Tx, tenant string) error {
	doc, err := countersign.Marshal(h)
	if err != nil {
		return err
	}
	return tx.Put(store.AuditHeads, tenant, store.Row{ID: headID, Doc: doc}, h.version)
}
