package audit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/merkle"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

func decoded(t *testing.T, row store.Row) countersign.AuditRecord {
	t.Helper()
	var r countersign.AuditRecord
	if err := json.Unmarshal(row.Doc, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// tampering is somebody with access to the store, who changes it behind the
// service's back.
type tampering struct {
	t  *testing.T
	tx store.Tx
}

func (t tampering) row(seq int64) store.Row {
	row, err := t.tx.Get(store.Audit, tenant, recordID(seq))
	if err != nil {
		t.t.Fatal(err)
	}
	return row
}

// put writes a row, whatever stood there.
func (t tampering) put(row store.Row) {
	version := int64(0)
	if old, err := t.tx.Get(store.Audit, tenant, row.ID); err == nil {
		version = old.Version
	}
	if err := t.tx.Put(store.Audit, tenant, row, version); err != nil {
		t.t.Fatal(err)
	}
}

func (t tampering) remove(seq int64) {
	if err := t.tx.Delete(store.Audit, tenant, recordID(seq)); err != nil {
		t.t.Fatal(err)
	}
}

// reseal writes a record anew with a hash that fits it.
func (t tampering) reseal(seq int64, change func(*countersign.AuditRecord)) {
	r := decoded(t.t, t.row(seq))
	change(&r)
	_, doc, err := merkle.Seal(&r)
	if err != nil {
		t.t.Fatal(err)
	}
	t.put(store.Row{ID: recordID(seq), Doc: doc, Keys: columns(&r)})
}

func (t tampering) edit(seq int64, old, replacement string) {
	row := t.row(seq)
	text := strings.Replace(string(row.Doc), old, replacement, 1)
	if text == string(row.Doc) {
		t.t.Fatalf("record %d has no %s", seq, old)
	}
	row.Doc = []byte(text)
	t.put(row)
}

func (t tampering) column(seq int64, i int, v any) {
	row := t.row(seq)
	row.Keys[i] = v
	t.put(row)
}

// insert puts a well-sealed record with this number where the column says.
func (t tampering) insert(id string, seq, column int64) {
	r := record(50)
	r.Seq = seq
	_, doc, err := merkle.Seal(&r)
	if err != nil {
		t.t.Fatal(err)
	}
	keys := columns(&r)
	keys[0] = column
	t.put(store.Row{ID: id, Doc: doc, Keys: keys})
}

func (t tampering) head(change func(*head)) {
	h, err := loadHead(t.tx, tenant)
	if err != nil {
		t.t.Fatal(err)
	}
	change(h)
	if err := h.save(t.tx, tenant); err != nil {
		t.t.Fatal(err)
	}
}

// TestTamperingIsFound: whatever is done to a log of eleven records (subtrees of
// 8, 2 and 1) it does not verify, and the first record that does not fit is
// named: where it gives itself away exactly, else the first of its subtree.
func TestTamperingIsFound(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(tampering)
		broken int64
	}{
		{"edited", func(m tampering) { m.edit(4, `"after":"READY"`, `"after":"FAILED"`) }, 4},
		{"edited, the first", func(m tampering) { m.edit(0, `"actor":"token:t-0"`, `"actor":"token:t-9"`) }, 0},
		{"edited, the last", func(m tampering) { m.edit(10, `"actor":"token:t-1"`, `"actor":"token:t-9"`) }, 10},
		{"edited in spelling alone", func(m tampering) { m.edit(4, `"seq":4,`, `"seq": 4,`) }, 4},
		{"a field added", func(m tampering) { m.edit(4, `"seq":4,`, `"seq":4,"x":1,`) }, 4},
		{"the hash removed", func(m tampering) { m.edit(4, `"hash":"`, `"hush":"`) }, 4},
		{"not JSON any more", func(m tampering) { m.edit(4, `{`, `[`) }, 4},
		{"edited, with a hash that fits", func(m tampering) { m.reseal(9, func(r *countersign.AuditRecord) { r.Reason = "" }) }, 8},
		{"edited, with a hash that fits, in the widest subtree", func(m tampering) { m.reseal(5, func(r *countersign.AuditRecord) { r.Reason = "" }) }, 0},
		{"edited, with a hash that fits, the last", func(m tampering) { m.reseal(10, func(r *countersign.AuditRecord) { r.Reason = "" }) }, 10},
		{"deleted", func(m tampering) { m.remove(4) }, 4},
		{"deleted, the first", func(m tampering) { m.remove(0) }, 0},
		{"cut off", func(m tampering) { m.remove(10); m.remove(9) }, 9},
		{"cut off to nothing", func(m tampering) {
			for seq := range int64(11) {
				m.remove(seq)
			}
		}, 0},
		{"cut off, and the head's size with it", func(m tampering) {
			m.remove(10)
			m.head(func(h *head) { h.Size = 10 })
		}, 0},
		{"two swapped", func(m tampering) {
			a, b := m.row(3), m.row(6)
			a.ID, b.ID = b.ID, a.ID
			m.put(a)
			m.put(b)
		}, 3},
		{"two swapped and renumbered", func(m tampering) {
			a, b := decoded(m.t, m.row(3)), decoded(m.t, m.row(6))
			m.reseal(3, func(r *countersign.AuditRecord) { *r = b; r.Seq = 3 })
			m.reseal(6, func(r *countersign.AuditRecord) { *r = a; r.Seq = 6 })
		}, 0},
		{"inserted at the end", func(m tampering) { m.insert(recordID(11), 11, 11) }, 11},
		{"inserted in between", func(m tampering) { m.insert("0000000000000004x", 4, 4) }, 5},
		{"inserted before the first", func(m tampering) { m.insert("-", 0, -1) }, 0},
		{"inserted at the end, with a number before the first", func(m tampering) { m.insert("x", 0, -1) }, 11},
		{"inserted far behind", func(m tampering) { m.insert("x", 99, 99) }, 11},
		{"listed at another place", func(m tampering) { m.column(4, 0, int64(90)) }, 4},
		{"listed at another time", func(m tampering) { m.column(4, 1, int64(0)) }, 4},
		{"listed under another actor", func(m tampering) { m.column(4, 2, "token:t-9") }, 4},
		{"listed under another action", func(m tampering) { m.column(4, 3, "runs.start ") }, 4},
		{"listed under another subject", func(m tampering) { m.column(4, 4, "run/r-9") }, 4},
		{"head of another size", func(m tampering) { m.head(func(h *head) { h.Size = 13 }) }, 11},
		{"head of another root", func(m tampering) { m.head(func(h *head) { h.Roots[1] = h.Roots[0] }) }, 8},
		{"head without a root", func(m tampering) { m.head(func(h *head) { h.Roots = h.Roots[:2] }) }, 0},
		{"head without any root", func(m tampering) { m.head(func(h *head) { h.Roots = nil }) }, 0},
		{"head of a negative size", func(m tampering) { m.head(func(h *head) { h.Size = -11 }) }, 0},
		{"head that is no JSON", func(m tampering) {
			row, _ := m.tx.Get(store.AuditHeads, tenant, headID)
			row.Doc = []byte("{")
			_ = m.tx.Put(store.AuditHeads, tenant, row, row.Version)
		}, 0},
		{"head gone", func(m tampering) { _ = m.tx.Delete(store.AuditHeads, tenant, headID) }, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := journal(t, 11)
			update(t, s, func(tx store.Tx) error {
				test.tamper(tampering{t, tx})
				return nil
			})
			v := verified(t, s)
			if v.Intact || v.FirstBroken == nil || *v.FirstBroken != test.broken {
				t.Errorf("intact %v, first broken %v, want %d", v.Intact, broke(v), test.broken)
			}
		})
	}
}

func broke(v countersign.AuditVerification) any {
	if v.FirstBroken == nil {
		return nil
	}
	return *v.FirstBroken
}

// TestTamperingBeyondOneBatchIsFound: verification reads a log piece by piece.
func TestTamperingBeyondOneBatchIsFound(t *testing.T) {
	s := memory.New()
	update(t, s, func(tx store.Tx) error {
		batch := make([]countersign.AuditRecord, 2*verifyBatch)
		for i := range batch {
			batch[i] = record(i)
		}
		return Append(tx, tenant, batch)
	})
	if v := verified(t, s); !v.Intact || v.Records != 2*verifyBatch {
		t.Fatalf("%+v", v)
	}
	update(t, s, func(tx store.Tx) error {
		tampering{t, tx}.edit(verifyBatch+1, `"after":"READY"`, `"after":"FAILED"`)
		return nil
	})
	if v := verified(t, s); v.Intact || *v.FirstBroken != verifyBatch+1 {
		t.Errorf("%+v", v)
	}
}

// Who cuts off the end and makes the head anew leaves a shorter log that fits in
// itself: an earlier head, kept outside, is what shows it.
func TestLogThatWasCutOffWithItsHeadHasAnotherHead(t *testing.T) {
	s := journal(t, 11)
	before := verified(t, s)
	update(t, s, func(tx store.Tx) error {
		m := tampering{t, tx}
		m.remove(10)
		m.head(func(h *head) { h.Size, h.Roots = 10, h.Roots[:2] })
		return nil
	})
	if after := verified(t, s); !after.Intact || after.Records != 10 || after.Head == before.Head {
		t.Errorf("%+v after %+v", after, before)
	}
}

// Below a damaged head nothing is appended, so nothing is done that would have
// to be recorded.
func TestNothingIsAppendedBelowADamagedHead(t *testing.T) {
	s := journal(t, 3)
	update(t, s, func(tx store.Tx) error {
		tampering{t, tx}.head(func(h *head) { h.Roots = nil })
		return nil
	})
	err := s.Update(context.Background(), func(tx store.Tx) error { return Append(tx, tenant, []countersign.AuditRecord{record(3)}) })
	if !errors.Is(err, errHead) || !strings.Contains(err.Error(), "audit: the head of the log: store: damaged document") || len(rows(t, s)) != 3 {
		t.Errorf("%v, %d records", err, len(rows(t, s)))
	}
}
