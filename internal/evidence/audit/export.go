package audit

import (
	"github.com/countersign/countersign/internal/storage/store"
)

// exportBatch bounds the memory of an export: the length of a record depends on the
// reason that somebody gave.
const exportBatch = 200

// Head is a log's current size and tree hash.
func Head(tx store.Tx, tenant string) (size int64, hash string, err error) {
	h, err := loadHead(tx, tenant)
	if err != nil {
		return 0, "", err
	}
	return h.Size, h.Hash(), nil
}

// Span is a range of records to export, [From, Before). The log only grows, so ranges
// from several snapshots together equal one snapshot of the first Before records.
type Span struct {
	Filter
	From, Before int64
}

// Next reads the next records of the span as stored, oldest first, and advances From;
// done when none are left.
func (s *Span) Next(tx store.Tx, tenant string) (docs [][]byte, done bool, err error) {
	if s.From >= s.Before {
		return nil, true, nil
	}
	rows, err := tx.List(store.Audit, tenant, s.query())
	if err != nil {
		return nil, false, err
	}
	for _, row := range rows {
		docs = append(docs, row.Doc)
	}
	if len(rows) < exportBatch {
		s.From = s.Before
		return docs, true, nil
	}
	s.From = rows[len(rows)-1].Keys[0].(int64) + 1
	return docs, s.From >= s.Before, nil
}

// query uses the index on ids, as List does.
func (s *Span) query() store.Query {
	column, first, last := "seq", any(s.From), any(s.Before-1)
	if s.byID() {
		column, first, last = "id", recordID(s.From), recordID(s.Before-1)
	}
	return store.Query{
		Where: append(s.where(),
			store.Filter{Column: column, Op: store.AtLeast, Values: []any{first}},
			store.Filter{Column: column, Op: store.AtMost, Values: []any{last}}),
		Order: []store.Order{{Column: column}}, Limit: exportBatch,
	}
}
