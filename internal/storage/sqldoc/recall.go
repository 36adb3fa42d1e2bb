package sqldoc

import "fmt"

// Another process may have written cached rows, and told which. What recent batches read of
// them will be read again, one by one while all other writers wait: so it is refreshed
// together, in one message.

// How many batches a row stays cached without being read, and how much is refreshed.
const (
	maxIdle     = 2
	maxRecalled = 128
)

// Recall refreshes the rows and tallies that others have changed, or all if it isn't known
// which (nil). Call it before anything else in the batch.
func (b *Batch) Recall(changed []Sum) error {
	var rows []cached
	var tallies []tally
	if changed == nil {
		rows, tallies = b.cache.all()
		b.cache.Clear()
	} else {
		rows, tallies = b.cache.forget(changed)
	}
	b.tallies = b.cache.copied()
	rows, tallies = recent(rows, tallies)
	if len(rows)+len(tallies) == 0 {
		return nil
	}
	answers, err := b.ask(rows, tallies)
	if err != nil {
		return fmt.Errorf("read %d rows and %d counts anew: %w", len(rows), len(tallies), b.conn.mean(err))
	}
	for i, answer := range answers[:len(rows)] {
		e, err := recalled(answer)
		if err != nil {
			return fmt.Errorf("read %s %s anew: %w", rows[i].table.Name, rows[i].id, err)
		}
		e.idle = rows[i].idle + 1
		b.cache.put(rows[i].place, e)
	}
	for i := range tallies {
		tallies[i].n, tallies[i].asked, tallies[i].idle = 0, false, tallies[i].idle+1
	}
	return b.take(tallies, answers[len(rows):])
}

// ask reads rows and counts in one message.
func (b *Batch) ask(rows []cached, tallies []tally) ([][]any, error) {
	calls := make([]Call, 0, len(rows)+len(tallies))
	for _, row := range rows {
		calls = append(calls, Call{b.conn.on(row.table).get.text, []any{row.tenant, row.id}})
	}
	for _, t := range tallies {
		s := b.conn.count(t.table, t.tenant, b.conn.dialect.within(t.query()))
		calls = append(calls, Call{s.String(), s.args})
	}
	return b.conn.dialect.Ask(b.conn.conn, calls)
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

// recent are those that the last batches read.
func recent(rows []cached, tallies []tally) (lately []cached, asked []tally) {
	for _, row := range rows {
		if row.idle < maxIdle && len(lately) < maxRecalled {
			lately = append(lately, row)
		}
	}
	for _, t := range tallies {
		if t.idle < maxIdle {
			asked = append(asked, t)
		}
	}
	return lately, asked
}

// all gives what the younger generation has.
func (c *Cache) all() (rows []cached, tallies []tally) {
	for _, row := range c.young {
		rows = append(rows, row)
	}
	for _, t := range c.tallies {
		tallies = append(tallies, t)
	}
	return rows, tallies
}

// forget drops what has changed, and gives what was dropped.
func (c *Cache) forget(changed []Sum) (rows []cached, tallies []tally) {
	tables := map[Sum]bool{}
	for _, sum := range changed {
		tables[sum] = true
		if row, ok := c.young[sum]; ok {
			rows = append(rows, row)
		}
		c.drop(sum)
	}
	for key, t := range c.tallies {
		if tables[listed(t.table)] {
			tallies = append(tallies, t)
			delete(c.tallies, key)
		}
	}
	return rows, tallies
}
