// Package audit keeps one append-only Merkle log per tenant, and one for the realm,
// in the store: RFC 6962 hashing as in golang.org/x/mod/sumdb/tlog. Records are
// appended in the transaction of the change that they describe (contract 9).
package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
)

// headID is the id of the head of a tenant's log in the audit_heads table. The other rows there
// are hashes of complete subtrees.
const headID = "head"

// head summarizes the earlier records: all that an append needs of them.
type head struct {
	merkle.Tree
	LastAt  time.Time `json:"lastAt"`
	version int64
}

// Append adds records to a tenant's log, in order, with sequence numbers and hashes: at the
// end of the function at the latest, so the function can't know the numbers. A record that is
// earlier than the previous one is marked.
func Append(tx store.Tx, tenant string, records []countersign.AuditRecord) error {
	if len(records) == 0 {
		return nil
	}
	return store.AtTurn(tx, func(tx store.Tx, waited time.Duration) error { return add(tx, tenant, records, waited) })
}

// AppendNow is Append for a function that needs to know the records' numbers.
func AppendNow(tx store.Tx, tenant string, records []countersign.AuditRecord) error {
	return add(tx, tenant, records, 0)
}

// add appends records. Those of others may be later by as long as these have waited for their
// turn, though no clock was set back.
func add(tx store.Tx, tenant string, records []countersign.AuditRecord, waited time.Duration) error {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		r.Seq, r.ClockBack = h.Size, r.At.Add(waited).Before(h.LastAt)
		if err := appendRecord(tx, tenant, h, r); err != nil {
			return err
		}
		h.LastAt = r.At
	}
	return h.save(tx, tenant)
}

func appendRecord(tx store.Tx, tenant string, h *head, r *countersign.AuditRecord) error {
	leaf, doc, err := merkle.Seal(r)
	if err != nil {
		return err
	}
	if err := tx.Put(store.Audit, tenant, store.Row{ID: recordID(r.Seq), Doc: doc, Keys: columns(r), Given: true}, 0); err != nil {
		return fmt.Errorf("audit record %d: %w", r.Seq, err)
	}
	var failed error
	h.AddEach(leaf, func(level int, root tlog.Hash) {
		if isKept(level) && failed == nil {
			failed = keep(tx, tenant, subtree{level, r.Seq >> level}, root)
		}
	})
	return failed
}

// columns are the indexed columns of a record.
func columns(r *countersign.AuditRecord) []any {
	return []any{r.Seq, r.At.UnixMicro(), r.Actor, r.Action, r.Subject}
}

// recordID sorts like the sequence number.
func recordID(seq int64) string {
	const zeros = "0000000000000000"
	id := strconv.FormatInt(seq, 10)
	return zeros[min(len(zeros), len(id)):] + id
}

func loadHead(tx store.Tx, tenant string) (*head, error) {
	h := &head{}
	row, err := store.Look(tx, store.AuditHeads, tenant, headID)
	if errors.Is(err, store.ErrNotFound) {
		return h, nil
	}
	if err != nil {
		return nil, err
	}
	h.version = row.Version
	if !h.parse(string(row.Doc)) && store.Decode(row.Doc, h) != nil || h.Size < 0 || len(h.Roots) != bits.OnesCount64(uint64(h.Size)) {
		return nil, errHead
	}
	return h, nil
}

// parse reads a head as save writes it, which each append of a record asks for. It reads
// nothing else than store.Decode would; false leaves the head as it was.
func (h *head) parse(doc string) bool {
	doc, begins := strings.CutPrefix(doc, `{"size":`)
	size, rest, _ := strings.Cut(doc, `,"roots":["`)
	roots, at, _ := strings.Cut(rest, `"],"lastAt":"`)
	at, whole := strings.CutSuffix(at, `"}`)
	read := head{version: h.version}
	var err error
	if read.Size, err = strconv.ParseInt(size, 10, 64); err != nil || strconv.FormatInt(read.Size, 10) != size || !begins || !whole || read.LastAt.UnmarshalText([]byte(at)) != nil {
		return false
	}
	read.Roots = make([]string, 0, bits.OnesCount64(uint64(read.Size))+1)
	for root := range strings.SplitSeq(roots, `","`) {
		if !isHash(root) {
			return false
		}
		read.Roots = append(read.Roots, root)
	}
	*h = read
	return true
}

func isHash(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == hex.EncodedLen(tlog.HashSize)
}

// errHead reports a damaged head. Nothing is appended to such a log, so no operation
// that needs an audit record succeeds.
var errHead = fmt.Errorf("audit: the head of the log: %w", store.ErrDamaged)

func (h *head) save(tx store.Tx, tenant string) error {
	doc, err := countersign.Marshal(h)
	if err != nil {
		return err
	}
	return tx.Put(store.AuditHeads, tenant, store.Row{ID: headID, Doc: doc, Given: true}, h.version)
}
