package sqlite

import (
	"errors"
	"slices"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// packed is a pack in the database, without its content.
type packed struct {
	first   int64
	n, size int
}

// end is the sequence number behind its records.
func (p *packed) end() int64 { return p.first + int64(p.n) }

// packAt finds the last pack of a tenant that doesn't begin behind a sequence number; nil for
// none.
func packAt(tx *sqldoc.Tx, tenant string, seq int64) (found *packed, err error) {
	err = tx.Each("SELECT first, n, size FROM audit_packs WHERE tenant = $1 AND first <= $2 ORDER BY first DESC LIMIT 1", []any{tenant, seq}, func(scan func(...any) error) error {
		found = &packed{}
		return scan(&found.first, &found.n, &found.size)
	})
	return found, err
}

var (
	errNoPack   = errors.New("their pack is missing")
	errPostings = errors.New("their postings do not match them")
)

// openPack reads a pack's records. Its error about damage is store.ErrDamaged.
func openPack(tx *sqldoc.Tx, tenant string, first int64) (*pack.Pack, error) {
	var sum int64
	var content []byte
	n := 0
	err := tx.Each("SELECT n, sum, content FROM audit_packs WHERE tenant = $1 AND first = $2", []any{tenant, first}, func(scan func(...any) error) error {
		return scan(&n, &sum, &content)
	})
	switch {
	case err != nil:
		return nil, err
	case n < 1:
		return nil, pack.Damaged(tenant, first, 1, errNoPack)
	}
	return pack.Open(tenant, first, n, content, sum)
}

// auditLog reads the audit records of a tenant: those in packs and those in the table.
type auditLog struct {
	tx     *sqldoc.Tx
	tenant string
	last   *pack.Pack // that was opened; nil: none
}

func (l *auditLog) open(first int64) (*pack.Pack, error) {
	if l.last != nil && l.last.First() == first {
		return l.last, nil
	}
	p, err := openPack(l.tx, l.tenant, first)
	l.last = p
	return p, err
}

// get finds a record.
func (l *auditLog) get(id string) (store.Row, error) {
	if seq, ok := pack.Seq(id); ok {
		found, err := packAt(l.tx, l.tenant, seq)
		if err != nil {
			return store.Row{}, err
		}
		if found != nil && seq < found.end() {
			p, err := l.open(found.first)
			if err != nil {
				return store.Row{}, err
			}
			return p.Row(int(seq - found.first)), nil
		}
	}
	return l.tx.Get(store.Audit, l.tenant, id)
}

// rows reads the records of a block that match.
func (l *auditLog) rows(b *blocks, found *block) ([]store.Row, error) {
	p, err := l.open(found.first)
	if err != nil {
		return nil, err
	}
	if len(b.columns) == 0 {
		// They are listed whatever their columns are: as they are when they are verified.
		err = l.checkPostings(found.first, p)
		found.places = found.places.And(p.All())
	}
	var rows []store.Row
	for i := range found.places.In(b.descending) {
		if err != nil {
			return nil, err
		}
		if i >= p.Len() || slices.ContainsFunc(b.columns, func(c columnValues) bool { return !p.Has(i, c.column, c.values) }) {
			return nil, pack.Damaged(l.tenant, found.first, p.Len(), errPostings)
		}
		if row := p.Row(i); found.decided || store.Audit.Matches(row.ID, row.Keys, b.where) {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// checkPostings refuses a pack whose records would be missing in lists.
func (l *auditLog) checkPostings(first int64, p *pack.Pack) error {
	for _, posting := range p.Postings() {
		var places []byte
		err := l.tx.Each("SELECT places FROM audit_postings WHERE tenant = $1 AND of = $2 AND value = $3 AND first = $4",
			[]any{l.tenant, posting.Column + 1, posting.Value, first}, func(scan func(...any) error) error { return scan(&places) })
		if err != nil {
			return err
		}
		if !slices.Equal(places, posting.Places.Places()) {
			return pack.Damaged(l.tenant, first, p.Len(), errPostings)
		}
	}
	return nil
}

// count counts the records that match.
func (l *auditLog) count(q store.Query) (int, error) {
	n, err := l.tx.Count(store.Audit, l.tenant, q)
	s := newSearch(q.Where)
	if err != nil || s.first > s.last {
		return n, err
	}
	b := newBlocks(l.tx, l.tenant, s, false)
	if query, args, ok := s.sum(l.tenant); ok {
		inPacks := 0
		err := l.tx.Each(query, args, func(scan func(...any) error) error { return scan(&inPacks) })
		if n += inPacks; err != nil || !s.timed() {
			return n, err
		}
		b.borders = true
	}
	return l.countBlocks(b, n)
}

// countBlocks adds the records of blocks to a number.
func (l *auditLog) countBlocks(b *blocks, n int) (int, error) {
	for {
		found, err := b.peek()
		if err != nil || found == nil {
			return n, err
		}
		more := found.places.Len()
		if !found.decided {
			rows, err := l.rows(b, found)
			if err != nil {
				return 0, err
			}
			more = len(rows)
		}
		n += more
		b.pop()
	}
}

// distinct lists the values of a text column.
func (l *auditLog) distinct(column string) ([]string, error) {
	values, err := l.tx.Distinct(store.Audit, l.tenant, column)
	if err != nil {
		return nil, err
	}
	if column == "id" {
		rows, err := l.list(store.Query{})
		for _, row := range rows {
			values = append(values, row.ID)
		}
		return compacted(values), err
	}
	least := "SELECT MIN(value) FROM audit_postings WHERE tenant = $1 AND of = $2"
	more, err := l.tx.Steps(least, least+" AND value > found.value", l.tenant, slices.Index(pack.Texts[:], column)+1)
	return compacted(append(values, more...)), err
}

// auditTenants lists the tenants that have audit records.
func auditTenants(tx *sqldoc.Tx) ([]string, error) {
	tenants, err := tx.Tenants(store.Audit)
	if err != nil {
		return nil, err
	}
	least := "SELECT MIN(tenant) FROM audit_packs"
	more, err := tx.Steps(least, least+" WHERE tenant > found.value")
	return compacted(append(tenants, more...)), err
}

func compacted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
