package sqlite

import (
	"slices"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
)

// list lists the records that match.
func (l *auditLog) list(q store.Query) ([]store.Row, error) {
	if by := firstOrder(q); by.Column != "id" && by.Column != "seq" {
		return l.sorted(q)
	}
	return newMerge(l, q).page()
}

func firstOrder(q store.Query) store.Order {
	if len(q.Order) == 0 {
		return store.Order{Column: "id"}
	}
	return q.Order[0]
}

// sorted is a list in an order that packs don't have: all that match are read. The product
// has no such list.
func (l *auditLog) sorted(q store.Query) ([]store.Row, error) {
	most := q.Offset + q.Limit
	if q.Limit == 0 {
		most = 0
	}
	found, err := l.tx.List(store.Audit, l.tenant, store.Query{Where: q.Where, Order: q.Order, Limit: most})
	if err != nil {
		return nil, err
	}
	b := newBlocks(l.tx, l.tenant, newSearch(q.Where), false)
	for {
		next, err := b.peek()
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		rows, err := l.rows(b, next)
		if err != nil {
			return nil, err
		}
		found = append(found, rows...)
		slices.SortFunc(found, func(a, b store.Row) int { return store.Audit.Compare(a, b, q.Order) })
		if most > 0 {
			found = found[:min(len(found), most)]
		}
		b.pop()
	}
	return found[min(len(found), q.Offset):], nil
}

// merge makes a page of the records in packs and those in the table, both of which come in the
// list's order: by sequence number or, which is the same, by id.
type merge struct {
	log    *auditLog
	query  store.Query
	by     store.Order
	blocks *blocks
	rows   []store.Row // of the block at hand
	table  []store.Row // of the table
	read   int         // how many of the table were passed or read
	loads  int
	ended  bool // the table has no more
	skip   int  // records before the page
	found  []store.Row
}

func newMerge(l *auditLog, q store.Query) *merge {
	m := &merge{log: l, query: q, by: firstOrder(q), skip: q.Offset}
	m.blocks = newBlocks(l.tx, l.tenant, newSearch(q.Where), m.by.Descending)
	return m
}

func (m *merge) page() ([]store.Row, error) {
	for m.query.Limit == 0 || len(m.found) < m.query.Limit {
		more, err := m.step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	return m.found, nil
}

// step takes or passes the next record, or passes several, or opens a pack.
func (m *merge) step() (more bool, err error) {
	single, err := m.single()
	if err != nil {
		return false, err
	}
	if len(m.rows) > 0 {
		if single != nil && store.Audit.Compare(*single, m.rows[0], m.query.Order) < 0 {
			m.table = m.table[1:]
			m.take(*single)
		} else {
			m.take(m.rows[0])
			m.rows = m.rows[1:]
		}
		return true, nil
	}
	next, err := m.blocks.peek()
	switch {
	case err != nil:
		return false, err
	case next == nil && single == nil:
		return false, nil
	case next == nil || single != nil && m.isBefore(*single, m.near(next)):
		return true, m.takeSingle(*single, next)
	case next.decided && next.places.Len() <= m.skip && (single == nil || m.isAfter(*single, m.far(next))):
		m.skip -= next.places.Len()
		m.blocks.pop()
		return true, nil
	}
	m.rows, err = m.log.rows(m.blocks, next)
	m.blocks.pop()
	return true, err
}

func (m *merge) take(row store.Row) {
	if m.skip > 0 {
		m.skip--
		return
	}
	m.found = append(m.found, row)
}

// near is the sequence number at which a block begins in the list's order, far the one at
// which it ends.
func (m *merge) near(b *block) int64 {
	if m.by.Descending {
		return b.first + pack.Most - 1
	}
	return b.first
}

func (m *merge) far(b *block) int64 {
	if m.by.Descending {
		return b.first
	}
	return b.first + pack.Most - 1
}

// isBefore reports whether a record of the table comes before a sequence number. One that has
// the same number comes neither before nor after it.
func (m *merge) isBefore(row store.Row, seq int64) bool {
	if m.by.Column == "seq" {
		return before(row.Keys[0].(int64), seq, m.by.Descending)
	}
	return before(row.ID, pack.ID(seq), m.by.Descending)
}

func (m *merge) isAfter(row store.Row, seq int64) bool {
	if m.by.Column == "seq" {
		return before(seq, row.Keys[0].(int64), m.by.Descending)
	}
	return before(pack.ID(seq), row.ID, m.by.Descending)
}

// passing is the number of records from which on those before the page are counted rather
// than read.
const passing = 100

// takeSingle takes a record of the table, which is the next one. Of many that are before the
// page it passes those that come before the next block.
func (m *merge) takeSingle(row store.Row, next *block) error {
	if m.skip < passing {
		m.table = m.table[1:]
		m.take(row)
		return nil
	}
	n := m.skip
	if next != nil {
		q := store.Query{Where: append(slices.Clone(m.query.Where), m.until(m.near(next)))}
		all, err := m.log.tx.Count(store.Audit, m.log.tenant, q)
		if err != nil {
			return err
		}
		n = min(n, max(all-(m.read-len(m.table)), 1))
	}
	m.read += n - len(m.table)
	m.skip -= n
	m.table, m.ended = nil, false
	return nil
}

// until keeps the records of the table that come before a sequence number.
func (m *merge) until(seq int64) store.Filter {
	op, by := store.AtMost, int64(-1)
	if m.by.Descending {
		op, by = store.AtLeast, 1
	}
	if m.by.Column == "seq" {
		return store.Filter{Column: "seq", Op: op, Values: []any{seq + by}}
	}
	return store.Filter{Column: "id", Op: op, Values: []any{pack.ID(seq)}}
}

// single is the next record of the table, nil if there is none.
func (m *merge) single() (*store.Row, error) {
	if len(m.table) == 0 && !m.ended {
		q := m.query
		q.Offset, q.Limit = m.read, m.size()
		rows, err := m.log.tx.List(store.Audit, m.log.tenant, q)
		if err != nil {
			return nil, err
		}
		m.table, m.read, m.ended = rows, m.read+len(rows), q.Limit == 0 || len(rows) < q.Limit
	}
	if len(m.table) == 0 {
		return nil, nil
	}
	return &m.table[0], nil
}

// size is how many records of the table are read at once: one at first, since most lists end
// before them, and then as many as the page may need.
func (m *merge) size() int {
	m.loads++
	switch {
	case m.loads == 1:
		return 1
	case m.query.Limit == 0:
		return 0
	}
	return min(m.skip, passing) + m.query.Limit - len(m.found)
}
