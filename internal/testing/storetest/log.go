package storetest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// logAgreesWithMemory appends to a log, as the audit log is, and compares every answer with the
// reference. An engine may keep the records of a log in another way than other rows, and one
// that is put again or deleted, as nobody does, must not differ.
func logAgreesWithMemory(t *testing.T, s store.Store) {
	reference := memory.New()
	defer closeStore(t, reference)
	cases := 0
	rapid.Check(t, func(t *rapid.T) {
		cases++
		l := &drawnLog{tenant: fmt.Sprintf("t%d", cases)}
		for range rapid.IntRange(1, 5).Draw(t, "transactions") {
			l.append(t).compare(t, s, reference)
			l.question(t).compare(t, s, reference)
		}
	})
}

type drawnLog struct {
	tenant string
	next   int64
}

func recordID(seq int64) string { return fmt.Sprintf("%016d", seq) }

// append draws a transaction that appends records, and perhaps changes an earlier one.
func (l *drawnLog) append(t *rapid.T) (tr transaction) {
	for range rapid.SampledFrom([]int{1, 2, 3, 40, 150}).Draw(t, "records") {
		tr.operations = append(tr.operations, l.putting(l.next, 0, someLogTexts.Draw(t, "text")))
		l.next++
	}
	switch seq := rapid.Int64Range(0, l.next-1).Draw(t, "earlier"); rapid.IntRange(0, 8).Draw(t, "what") {
	case 0:
		tr.operations = append(tr.operations, deletion(store.Audit, l.tenant, recordID(seq)))
	case 1:
		tr.operations = append(tr.operations, l.putting(seq, 1, "again"))
	}
	return tr
}

var someLogTexts = rapid.SampledFrom([]string{"", "a", "b", "é"})

func (l *drawnLog) putting(seq, version int64, text string) operation {
	row := store.Row{ID: recordID(seq), Doc: []byte(fmt.Sprintf(`{"seq":%d}`, seq)), Keys: []any{seq, 10 * seq, text, "action " + text, fmt.Sprint("subject ", seq/3)}}
	return operation{fmt.Sprint("put ", seq), func(tx store.Tx) (any, error) {
		return nil, tx.Put(store.Audit, l.tenant, row, version)
	}}
}

// question draws a transaction that asks about the log.
func (l *drawnLog) question(t *rapid.T) transaction {
	tr := transaction{readOnly: true}
	for range 4 {
		seq := rapid.Int64Range(-1, l.next).Draw(t, "seq")
		q := store.Query{Limit: rapid.IntRange(0, 30).Draw(t, "limit"), Offset: rapid.IntRange(0, 50).Draw(t, "offset")}
		q.Order = []store.Order{{Column: rapid.SampledFrom([]string{"id", "seq", "actor"}).Draw(t, "order"), Descending: rapid.Bool().Draw(t, "descending")}}
		for range rapid.IntRange(0, 2).Draw(t, "filters") {
			q.Where = append(q.Where, l.filter(t, seq))
		}
		tr.operations = append(tr.operations, listing(store.Audit, l.tenant, q), counting(store.Audit, l.tenant, q), reading(store.Audit, l.tenant, recordID(seq)))
	}
	column := rapid.SampledFrom([]string{"id", "actor", "action", "subject"}).Draw(t, "column")
	tr.operations = append(tr.operations, distinction(store.Audit, l.tenant, column))
	return tr
}

func (l *drawnLog) filter(t *rapid.T, seq int64) store.Filter {
	op := rapid.SampledFrom([]store.Op{store.In, store.AtLeast, store.AtMost}).Draw(t, "op")
	text := someLogTexts.Draw(t, "text")
	return rapid.SampledFrom([]store.Filter{
		{Column: "id", Op: op, Values: []any{recordID(max(seq, 0))}}, {Column: "seq", Op: op, Values: []any{seq}}, {Column: "at", Op: op, Values: []any{10 * seq}},
		store.Equal("actor", text), store.Equal("action", "action "+text), store.Equal("subject", fmt.Sprint("subject ", seq/3)),
		{Column: "actor", Values: []any{text, "a", "again"}},
	}).Draw(t, "filter")
}
