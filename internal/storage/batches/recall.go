package batches

import (
	"fmt"

	"github.com/countersign/countersign/internal/storage/sqldoc"
)

// Another process may have written cached rows, and told which. What recent batches read of
// them will be read again, one by one while all other writers wait: so it is refreshed
// together, in one message.

// How many batches a row stays cached without being read, and how much is refreshed.
const (
	maxIdle     = 2
	maxRecalled = 128
)

// Hot asks for the rows and tallies that recent Recalls had to refresh: others change them
// again and again, and a message for them alone would be sent while all other writers wait. The
// answers, which the engine gets in its message that begins the transaction, are for Recall.
func (c *Cache) Hot(conn *sqldoc.Conn) []sqldoc.Call { return calls(conn, c.hot.rows, c.hot.tallies) }

// Cool says that others have changed nothing.
func (c *Cache) Cool() { c.hot = c.hot.cooled() }

// AskNothing drops what is Hot: it may be what can't be read.
func (c *Cache) AskNothing() { c.hot = wanted{} }

// Recall refreshes the rows and tallies that others have changed, or all if it isn't known
// which (nil). hot are the answers to Hot. Call it before anything else in the batch.
func (b *Batch) Recall(changed []Sum, hot [][]any) error {
	was := b.cache.hot
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
	b.cache.hot = was.heated(wanted{rows, tallies})
	known := was.answers(hot)
	if len(known) > 0 {
		rows, tallies = b.withForgotten(rows, tallies, was)
	}
	answers, err := b.refreshed(rows, tallies, known)
	if err != nil {
		return fmt.Errorf("read %d rows and %d counts anew: %w", len(rows), len(tallies), b.conn.Mean(err))
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

// refreshed gives the answers of rows, then of tallies, and asks for those that aren't known.
func (b *Batch) refreshed(rows []cached, tallies []tally, known map[string][]any) ([][]any, error) {
	var askRows []cached
	var askTallies []tally
	for _, row := range rows {
		if _, ok := known[row.key()]; !ok {
			askRows = append(askRows, row)
		}
	}
	for _, t := range tallies {
		if _, ok := known[t.key()]; !ok {
			askTallies = append(askTallies, t)
		}
	}
	if len(askRows)+len(askTallies) > 0 {
		asked, err := b.ask(askRows, askTallies)
		if err != nil {
			return nil, err
		}
		for key, answer := range (wanted{askRows, askTallies}).answers(asked) {
			known[key] = answer
		}
	}
	answers := make([][]any, 0, len(rows)+len(tallies))
	for _, row := range rows {
		answers = append(answers, known[row.key()])
	}
	for _, t := range tallies {
		answers = append(answers, known[t.key()])
	}
	return answers, nil
}

// answers are the answers to calls by what was asked for.
func (w wanted) answers(of [][]any) map[string][]any {
	found := map[string][]any{}
	if len(of) != len(w.rows)+len(w.tallies) {
		return found
	}
	for i, row := range w.rows {
		found[row.key()] = of[i]
	}
	for i, t := range w.tallies {
		found[t.key()] = of[len(w.rows)+i]
	}
	return found
}

// key tells rows and tallies apart.
func (c *cached) key() string { return "row " + c.table.Name + "\x00" + c.tenant + "\x00" + c.id }

func (t *tally) key() string { return "tally " + t.table.CountKey(t.tenant, t.where) }

// withForgotten adds what is hot, and so was asked for already, and isn't cached.
func (b *Batch) withForgotten(rows []cached, tallies []tally, hot wanted) ([]cached, []tally) {
	w := wanted{rows, tallies}
	for _, row := range hot.rows {
		if _, ok := b.cache.get(row.place); !ok {
			w.rows = append(w.rows, row)
		}
	}
	for _, t := range hot.tallies {
		if _, ok := b.tallies[t.table.CountKey(t.tenant, t.where)]; !ok {
			w.tallies = append(w.tallies, t)
		}
	}
	w = w.unique()
	return w.rows, w.tallies
}

// How much is asked for in advance, most of which should be needed, and for how many turns after
// it was needed. Starts come in bursts where many runs go at once: then a turn with counts is
// followed by as many without as a run has steps.
const (
	maxHot  = 16
	maxWarm = 16
)

// heated is what is hot after a Recall that needed something.
func (w wanted) heated(needed wanted) (hot wanted) {
	for _, row := range needed.rows {
		hot.rows = append(hot.rows, cached{place: row.place})
	}
	for _, t := range needed.tallies {
		hot.tallies = append(hot.tallies, tally{table: t.table, tenant: t.tenant, where: t.where})
	}
	cooled := w.cooled()
	hot = wanted{append(hot.rows, cooled.rows...), append(hot.tallies, cooled.tallies...)}.unique()
	return wanted{hot.rows[:min(len(hot.rows), maxHot)], hot.tallies[:min(len(hot.tallies), maxHot)]}
}

// cooled is what is still hot after a turn in which it was not needed.
func (w wanted) cooled() (hot wanted) {
	for _, row := range w.rows {
		if row.idle++; row.idle < maxWarm {
			hot.rows = append(hot.rows, row)
		}
	}
	for _, t := range w.tallies {
		if t.idle++; t.idle < maxWarm {
			hot.tallies = append(hot.tallies, t)
		}
	}
	return hot
}

// ask reads rows and counts in one message.
func (b *Batch) ask(rows []cached, tallies []tally) ([][]any, error) {
	return b.conn.Ask(calls(b.conn, rows, tallies))
}

func calls(conn *sqldoc.Conn, rows []cached, tallies []tally) []sqldoc.Call {
	calls := make([]sqldoc.Call, 0, len(rows)+len(tallies))
	for _, row := range rows {
		calls = append(calls, sqldoc.Get(row.table, row.tenant, row.id))
	}
	for _, t := range tallies {
		calls = append(calls, conn.Count(t.table, t.tenant, t.query()))
	}
	return calls
}

// recalled makes the entry of a row that was asked for; nil for no row.
func recalled(row []any) (entry, error) {
	version, doc, keys, err := sqldoc.Answer(row)
	return entry{version: version, stored: version, doc: doc, keys: keys, columns: keys}, err
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
