package sqldoc

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/countersign/countersign/internal/storage/store"
)

// counting collects by how much the rows that a Tx writes change what Counted counts, so that
// a count is written once for all of them.
//
// The ranges of a list leave no row out: the first begins at the least integer, and each ends
// where the next one begins. One with too many rows is divided, and one that has none left
// becomes part of the one before.
type counting map[countedList]map[int64]int // by the value that ranges are of

// countedList is a list whose rows are counted: all of a tenant, or those with one value.
type countedList struct {
	table      *store.Table
	tenant, of string
}

func (l countedList) compare(other countedList) int {
	return cmp.Or(cmp.Compare(l.table.Name, other.table.Name), cmp.Compare(l.tenant, other.tenant), cmp.Compare(l.of, other.of))
}

// A range with more than mostCounted rows keeps the first dividedAt, and those that are level
// with the last of these.
const (
	dividedAt   = 1000
	mostCounted = 1250
)

// count notes that a row is written.
func (t *Tx) count(p place, e *Change) {
	c := t.conn.dialect.Counted[p.table]
	if c == nil {
		return
	}
	if t.counting == nil {
		t.counting = counting{}
	}
	if e.Stored > 0 {
		t.counting.add(c, p, e.Columns, -1)
	}
	if e.Version > 0 {
		t.counting.add(c, p, e.Keys, +1)
	}
}

// add changes by how much the counts of a row with these columns change.
func (n counting) add(c *Counted, p place, columns []any, by int) {
	value := func(column string) any {
		return columns[slices.IndexFunc(p.table.Columns, func(c store.Column) bool { return c.Name == column })]
	}
	lists, of := []string{""}, value(c.Of).(string)
	if slices.Contains(c.Values, of) {
		lists = append(lists, of)
	}
	for _, of := range lists {
		l := countedList{p.table, p.tenant, of}
		if n[l] == nil {
			n[l] = map[int64]int{}
		}
		n[l][value(c.By).(int64)] += by
	}
}

// WriteCounts writes the counts of what Write has written. Call it last.
func (t *Tx) WriteCounts() error {
	for _, l := range slices.SortedFunc(maps.Keys(t.counting), countedList.compare) {
		w := countsWriter{t, t.conn.dialect.Counted[l.table], l}
		if err := w.write(t.counting[l]); err != nil {
			return fmt.Errorf("count %s: %w", l.table.Name, err)
		}
	}
	return nil
}

// countsWriter writes the counts of a list.
type countsWriter struct {
	tx *Tx
	*Counted
	list countedList
}

// countedRange counts the rows of a list between two values, both included.
type countedRange struct {
	since, last int64
	n           int
}

// write changes the counts, range by range.
func (w countsWriter) write(changed map[int64]int) error {
	values := slices.Sorted(maps.Keys(changed))
	for len(values) > 0 {
		r, err := w.rangeAt(values[0])
		if err != nil {
			return err
		}
		was := r.n
		for len(values) > 0 && values[0] <= r.last {
			r.n += changed[values[0]]
			values = values[1:]
		}
		if r.n == was {
			continue
		}
		if err := w.set(r); err != nil {
			return err
		}
	}
	return nil
}

// rangeAt is the range that a value belongs to; of a list without ranges, the first one.
func (w countsWriter) rangeAt(value int64) (countedRange, error) {
	r := countedRange{since: math.MinInt64, last: math.MaxInt64}
	err := w.ask("SELECT since, n FROM "+w.counts()+" AND since <= $3 ORDER BY since DESC LIMIT 1", w.args(value), &r.since, &r.n)
	if err == nil {
		err = w.ask("SELECT since - 1 FROM "+w.counts()+" AND since > $3 ORDER BY since LIMIT 1", w.args(value), &r.last)
	}
	return r, err
}

// set writes the count of a range.
func (w countsWriter) set(r countedRange) error {
	if r.n == 0 && r.since > math.MinInt64 {
		return w.exec("DELETE FROM "+w.counts()+" AND since = $3", r.since)
	}
	for r.n > mostCounted {
		next, kept, err := w.divide(r)
		if err != nil {
			return err
		}
		if kept == 0 {
			break
		}
		if err := w.store(r.since, kept); err != nil {
			return err
		}
		r.since, r.n = next, r.n-kept
	}
	return w.store(r.since, r.n)
}

func (w countsWriter) store(since int64, n int) error {
	return w.exec("INSERT INTO "+w.Name+" (tenant, "+w.Of+", since, n) VALUES ($1, $2, $3, $4) ON CONFLICT DO UPDATE SET n = excluded.n", since, n)
}

// divide finds where a range should end, and how many rows it keeps then: 0 if no row comes
// after those that it keeps.
func (w countsWriter) divide(r countedRange) (next int64, kept int, err error) {
	of := "$2 = ''"
	if w.list.of != "" {
		of = w.Of + " = $2"
	}
	rows := w.list.table.Name + " WHERE tenant = $1 AND " + of + " AND " + w.By
	kth := "SELECT " + w.By + " FROM " + rows + " BETWEEN $3 AND $4 ORDER BY " + w.By + " LIMIT 1 OFFSET " + strconv.Itoa(dividedAt-1)
	next = r.since
	err = w.ask("SELECT "+w.By+" FROM "+rows+" BETWEEN $3 AND $4 AND "+w.By+" > ("+kth+") ORDER BY "+w.By+" LIMIT 1", w.args(r.since, r.last), &next)
	if err == nil && next > r.since {
		err = w.ask("SELECT COUNT(*) FROM "+rows+" BETWEEN $3 AND $4", w.args(r.since, next-1), &kept)
	}
	return next, kept, err
}

// counts are the counts of the list.
func (w countsWriter) counts() string { return w.Name + " WHERE tenant = $1 AND " + w.Of + " = $2" }

// args are the parameters of a statement about the list.
func (w countsWriter) args(more ...any) []any {
	return append([]any{w.list.tenant, w.list.of}, more...)
}

// ask reads a row, if there is one.
func (w countsWriter) ask(query string, args []any, dest ...any) error {
	return w.tx.Each(query, args, func(scan func(...any) error) error { return scan(dest...) })
}

func (w countsWriter) exec(text string, args ...any) error {
	_, err := w.tx.exec(w.tx.conn.kept(text), w.args(args...))
	return err
}
