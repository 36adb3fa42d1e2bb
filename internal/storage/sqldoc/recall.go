package sqldoc

import "fmt"

// Another process may have written any cached row. Rows that recent batches read will be
// read again, one by one while all other writers wait: so they are refreshed together, in
// one message.

// How many batches a row stays cached without being read, and how many rows are refreshed.
const (
	maxIdle     = 2
	maxRecalled = 128
)

// Recall refreshes the cached rows. Call it before anything else in the batch.
func (b *Batch) Recall() error {
	places, entries := b.cache.recent()
	b.cache.Clear()
	if len(places) == 0 {
		return nil
	}
	calls := make([]Call, len(places))
	for i, p := range places {
		calls[i] = Call{b.conn.on(p.table).get.text, []any{p.tenant, p.id}}
	}
	rows, err := b.conn.dialect.Ask(b.conn.conn, calls)
	if err != nil {
		return fmt.Errorf("read %d rows anew: %w", len(places), b.conn.mean(err))
	}
	for i, row := range rows {
		e, err := recalled(row)
		if err != nil {
			return fmt.Errorf("read %s %s anew: %w", places[i].table.Name, places[i].id, err)
		}
		e.idle = entries[i].idle + 1
		b.cache.put(places[i], e)
	}
	return nil
}

// recalled makes the entry of a row as selectFrom selects it; nil for no row.
func recalled(row []any) (e entry, err error) {
	if row == nil {
		return e, nil
	}
	version, isNumber := row[1].(int64)
	doc, isText := row[2].(string)
	if !isNumber || !isText {
		return e, fmt.Errorf("its version and document are %T and %T", row[1], row[2])
	}
	keys := row[3:]
	if len(keys) == 0 {
		keys = nil
	}
	return entry{version: version, stored: version, doc: doc, keys: keys, columns: keys}, nil
}

// recent returns the rows that the last batches read.
func (c *Cache) recent() (places []place, entries []entry) {
	for p, e := range c.young {
		if e.idle < maxIdle && len(places) < maxRecalled {
			places, entries = append(places, p), append(entries, e)
		}
	}
	return places, entries
}
