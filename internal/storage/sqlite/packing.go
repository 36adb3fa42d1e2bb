package sqlite

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
)

// Audit records that follow each other are written as packs. Packs of a tenant don't overlap,
// each one begins behind those before, and no record stands both in a pack and in the table.
// What doesn't fit stands in the table alone: a record whose id doesn't say its number, that
// was put again or is large, that comes before one that is packed. A pack of which a record is
// put again or deleted is dissolved: its records go to the table.
//
// The last pack of a log is written anew with the records that follow until it is full, so
// that a log that gets a record now and then is as small as one that gets many at once.

// packing writes the rows of a layer, in their order.
type packing struct {
	conn   *sqldoc.Conn
	tx     *sqldoc.Tx
	packer *pack.Packer
	tenant string
	rows   []store.Row // new records that follow each other
}

// write writes a row, now or with those that follow it.
func (p *packing) write(c writebehind.Change) error {
	if c.Table != store.Audit {
		return errors.Join(p.flush(), p.single(c))
	}
	fits := c.Stored == 0 && c.Row.Version == 1 && pack.Fits(c.Row)
	if !fits || len(p.rows) > 0 && (c.Tenant != p.tenant || c.Row.Keys[0].(int64) != p.next()) {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if !fits {
		if err := p.dissolve(c.Tenant, c.Row.ID); err != nil {
			return err
		}
		return p.single(c)
	}
	p.tenant, p.rows = c.Tenant, append(p.rows, c.Row)
	return nil
}

// next is the sequence number that follows those of the rows.
func (p *packing) next() int64 { return p.rows[0].Keys[0].(int64) + int64(len(p.rows)) }

func (p *packing) single(c writebehind.Change) error {
	return p.tx.Write(c.Table, c.Tenant, c.Row, c.Stored, c.Columns)
}

// flush writes the rows that wait.
func (p *packing) flush() error {
	if len(p.rows) == 0 {
		return nil
	}
	rows := p.rows
	p.rows = p.rows[:0]                               // packs and tables have copies by the time that more rows come
	last, err := packAt(p.tx, p.tenant, pack.MostSeq) // nil: it has none
	if err != nil {
		return err
	}
	behind, err := p.isBehind(last, rows)
	switch {
	case err != nil:
		return err
	case !behind:
		return p.singles(rows)
	}
	before, err := p.open(last, rows[0])
	if err != nil {
		return err
	}
	return p.packs(append(before, rows...), len(before))
}

// singles writes rows to the table, which refuses those that are there.
func (p *packing) singles(rows []store.Row) error {
	for _, row := range rows {
		if err := p.dissolve(p.tenant, row.ID); err != nil {
			return err
		}
		if err := p.tx.Write(store.Audit, p.tenant, row, 0, nil); err != nil {
			return err
		}
	}
	return nil
}

// isBehind reports whether rows come behind all packs, and none of the table is among them.
func (p *packing) isBehind(last *packed, rows []store.Row) (bool, error) {
	if last != nil && rows[0].Keys[0].(int64) < last.end() {
		return false, nil
	}
	n := 0
	err := p.tx.Each("SELECT EXISTS (SELECT 1 FROM audit WHERE tenant = $1 AND id BETWEEN $2 AND $3)",
		[]any{p.tenant, rows[0].ID, rows[len(rows)-1].ID}, func(scan func(...any) error) error { return scan(&n) })
	return n == 0, err
}

// open reads the records of the last pack if it isn't full and the next record follows them.
// One that is damaged stays as it is.
func (p *packing) open(last *packed, next store.Row) ([]store.Row, error) {
	if last == nil || last.end() != next.Keys[0].(int64) || last.n >= pack.Most || last.size+pack.Size(next) > pack.MostBytes {
		return nil, nil
	}
	opened, err := openPack(p.tx, p.tenant, last.first)
	switch {
	case errors.Is(err, store.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return opened.Rows(), nil
}

// packs writes rows as packs. The first so many are in a pack that is written anew.
func (p *packing) packs(rows []store.Row, before int) error {
	for len(rows) > 0 {
		n, size := 0, 0
		for n < min(len(rows), pack.Most) && (n == 0 || size+pack.Size(rows[n]) <= pack.MostBytes) {
			size += pack.Size(rows[n])
			n++
		}
		if err := p.pack(rows[:n], size, before); err != nil {
			return err
		}
		rows, before = rows[n:], 0
	}
	return nil
}

// pack writes a pack and its postings. The first so many records are in it already.
func (p *packing) pack(rows []store.Row, size, before int) error {
	content, sum := p.packer.Pack(p.tenant, rows)
	first := rows[0].Keys[0].(int64)
	earliest, latest := pack.At(rows[0]), pack.At(rows[0])
	for _, row := range rows {
		earliest, latest = min(earliest, pack.At(row)), max(latest, pack.At(row))
	}
	err := p.conn.Run("INSERT INTO audit_packs VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO UPDATE SET"+
		" n = excluded.n, size = excluded.size, earliest = excluded.earliest, latest = excluded.latest, sum = excluded.sum, content = excluded.content",
		p.tenant, first, len(rows), size, earliest, latest, sum, content)
	there := pack.First(before)
	for _, posting := range pack.Postings(rows) {
		if err != nil {
			return err
		}
		if posting.Places.Without(there).Len() > 0 {
			err = p.conn.Run("INSERT INTO audit_postings VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO UPDATE SET places = excluded.places",
				p.tenant, posting.Column+1, posting.Value, first, posting.Places.Places())
		}
	}
	return err
}

// dissolve writes the records of the pack that an id belongs into to the table.
func (p *packing) dissolve(tenant, id string) error {
	seq, ok := pack.Seq(id)
	if !ok {
		return nil
	}
	found, err := packAt(p.tx, tenant, seq)
	if err != nil || found == nil || seq >= found.end() {
		return err
	}
	opened, err := openPack(p.tx, tenant, found.first)
	if err != nil {
		return err
	}
	for _, posting := range opened.Postings() {
		if err := p.conn.Run("DELETE FROM audit_postings WHERE tenant = $1 AND of = $2 AND value = $3 AND first = $4", tenant, posting.Column+1, posting.Value, found.first); err != nil {
			return err
		}
	}
	if err := p.conn.Run("DELETE FROM audit_packs WHERE tenant = $1 AND first = $2", tenant, found.first); err != nil {
		return err
	}
	for _, row := range opened.Rows() {
		if err := p.tx.Write(store.Audit, tenant, row, 0, nil); err != nil {
			return err
		}
	}
	return nil
}
