package writebehind

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// difference is what the layers and the batch change in a list of the database.
type difference struct {
	hidden map[string]row // by id, what the database has of the rows in the layers
	rows   map[string]row // by id, what the layers have
}

// difference collects the rows of a group that are in the layers and whose ids pass the
// filters; nil if there are none.
func (t *Tx) difference(g group, where []store.Filter) *difference {
	d := &difference{map[string]row{}, map[string]row{}}
	put := func(id string, below, is row) {
		if _, ok := d.rows[id]; !ok {
			d.hidden[id] = below // of the oldest layer: under that is the database
		}
		d.rows[id] = is
	}
	of := rangeOf(g.table, where)
	for _, l := range t.own {
		l.each(g, of, t.commit, put)
	}
	if t.batch != nil {
		t.batch.changes.of(g, func(c *change) {
			if of.has(c.id) {
				put(c.id, c.below, c.row)
			}
		})
	}
	if len(d.rows) == 0 {
		return nil
	}
	return d
}

// List implements store.Tx.
func (t *Tx) List(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	found, err := t.list(table, tenant, q)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", table.Name, err)
	}
	return found, nil
}

func (t *Tx) list(table *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	if err := table.CheckQuery(q); err != nil {
		return nil, err
	}
	base, d, err := t.under(group{table, tenant}, q.Where)
	if err != nil {
		return nil, err
	}
	if d == nil {
		rows, err := base.List(table, tenant, q)
		return rows, t.failed(err)
	}
	m := d.merge(table, q)
	rows, err := base.List(table, tenant, m.window())
	if t.failed(err) != nil {
		return nil, err
	}
	return m.page(rows), nil
}

// under is the database's snapshot and what the layers change in a group. The snapshot is
// begun first: it may make a layer superfluous.
func (t *Tx) under(g group, where []store.Filter) (Base, *difference, error) {
	if err := t.usable(); err != nil {
		return nil, nil, err
	}
	base, err := t.begun()
	if err != nil {
		return nil, nil, t.failed(err)
	}
	return base, t.difference(g, where), nil
}

// Count implements store.Tx.
func (t *Tx) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	if err := table.CheckQuery(q); err != nil {
		return 0, err
	}
	if err := t.usable(); err != nil {
		return 0, fmt.Errorf("count %s: %w", table.Name, err)
	}
	n, err := t.count(table, tenant, q)
	if t.failed(err) != nil {
		return 0, fmt.Errorf("count %s: %w", table.Name, err)
	}
	return n + t.counted(group{table, tenant}, q.Where), nil
}

// counted is how many rows that match the layers and the batch add to a count of the
// database. Each knows what the row was below it, so their differences add up.
func (t *Tx) counted(g group, where []store.Filter) (n int) {
	add := func(id string, below, is row) {
		if is.version != 0 && g.table.Matches(id, is.keys, where) {
			n++
		}
		if below.version != 0 && g.table.Matches(id, below.keys, where) {
			n--
		}
	}
	of := rangeOf(g.table, where)
	for _, l := range t.own {
		l.each(g, of, t.commit, add)
	}
	if t.batch != nil {
		t.batch.changes.of(g, func(c *change) {
			if of.has(c.id) {
				add(c.id, c.below, c.row)
			}
		})
	}
	return n
}

// Distinct implements store.Tx.
func (t *Tx) Distinct(table *store.Table, tenant, column string) ([]string, error) {
	if err := table.CheckDistinct(column); err != nil {
		return nil, err
	}
	base, d, err := t.under(group{table, tenant}, nil)
	if err != nil {
		return nil, fmt.Errorf("distinct %s.%s: %w", table.Name, column, err)
	}
	values, err := base.Distinct(table, tenant, column)
	if t.failed(err) != nil || d == nil {
		return values, err
	}
	of := func(id string, r row) string { return valueOf(table, id, r, column) }
	left := map[string]bool{} // values that may have no row any more
	for id, r := range d.hidden {
		if r.version != 0 {
			left[of(id, r)] = true
		}
	}
	for id, r := range d.rows {
		if r.version != 0 {
			values = append(values, of(id, r))
			delete(left, of(id, r))
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	for value := range left {
		n, err := t.Count(table, tenant, store.Query{Where: []store.Filter{store.Equal(column, value)}})
		if err != nil {
			return nil, err
		}
		if n == 0 {
			values = slices.DeleteFunc(values, func(v string) bool { return v == value })
		}
	}
	return values, nil
}

// Tenants implements store.Whole.
func (t *Tx) Tenants(table *store.Table) ([]string, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	base, err := t.begun()
	if err != nil {
		return nil, t.failed(err)
	}
	tenants, err := base.Tenants(table)
	if t.failed(err) != nil {
		return nil, err
	}
	mixed := map[string]bool{} // tenants with rows in the layers
	for _, l := range t.own {
		l.tenants(table, func(tenant string) { mixed[tenant] = true })
	}
	if t.batch != nil {
		for _, c := range t.batch.changes.list {
			if c.table == table {
				mixed[c.tenant] = true
			}
		}
	}
	for tenant := range mixed {
		n, err := t.Count(table, tenant, store.Query{})
		if err != nil {
			return nil, err
		}
		tenants = slices.DeleteFunc(tenants, func(v string) bool { return v == tenant })
		if n > 0 {
			tenants = append(tenants, tenant)
		}
	}
	slices.Sort(tenants)
	return tenants, nil
}

// merged is a list of the database with the difference of the layers.
type merged struct {
	table  *store.Table
	query  store.Query
	layers map[string]row // all rows of the group in the layers
	added  []store.Row    // those that match, in the list's order
	hidden []store.Row    // rows of the database that match and are in a layer, in that order
}

func (d *difference) merge(table *store.Table, q store.Query) *merged {
	m := &merged{table: table, query: q, layers: d.rows}
	collect := func(rows map[string]row) (found []store.Row) {
		for id, r := range rows {
			if r.version != 0 && table.Matches(id, r.keys, q.Where) {
				found = append(found, r.as(id))
			}
		}
		slices.SortFunc(found, m.compare)
		return found
	}
	m.added, m.hidden = collect(d.rows), collect(d.hidden)
	return m
}

func (m *merged) compare(a, b store.Row) int { return m.table.Compare(a, b, m.query.Order) }

// start is where in the database's list the window begins: the rows before are before the
// page, whatever is added or hidden.
func (m *merged) start() int { return max(0, m.query.Offset-len(m.added)) }

// window asks the database for all its rows that may be on the page.
func (m *merged) window() store.Query {
	q := m.query
	q.Offset = m.start()
	if q.Limit > 0 {
		q.Limit += m.query.Offset - q.Offset + len(m.hidden)
	}
	return q
}

// page makes the page of the window's rows.
func (m *merged) page(window []store.Row) []store.Row {
	passed, added := 0, m.added
	if start := m.start(); start > 0 {
		if len(window) == 0 {
			return nil // the rows of the database and all that is added are before the page
		}
		before := func(r store.Row) bool { return m.compare(r, window[0]) < 0 }
		n := count(m.added, before)
		passed, added = start-count(m.hidden, before)+n, m.added[n:]
	}
	rows := slices.DeleteFunc(window, func(r store.Row) bool { _, ok := m.layers[r.ID]; return ok })
	rows = append(rows, added...)
	slices.SortFunc(rows, m.compare)
	rows = rows[min(len(rows), m.query.Offset-passed):]
	if m.query.Limit > 0 && len(rows) > m.query.Limit {
		rows = rows[:m.query.Limit]
	}
	return rows
}
