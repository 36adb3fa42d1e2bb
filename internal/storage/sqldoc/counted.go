package sqldoc

import (
	"math"
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// Counted is a table of counts beside a table of documents, written in the same
// transactions (see counting): the number of each tenant's rows in ranges of one column. It
// has the columns tenant, Of, since and n; a range goes from its since to the next one's.
type Counted struct {
	Name string
	By   string // the integer column that the ranges are of
	// Of is a column whose values in Values have counts of their own; the value "" of the
	// column of counts all rows.
	Of     string
	Values []string
}

// list finds the counts that answer a query; ok is false if there are none.
func (c *Counted) list(q store.Query) (of string, ok bool) {
	if c == nil || len(q.Where) > 1 {
		return "", false
	}
	if len(q.Where) == 0 {
		return "", true
	}
	f := q.Where[0]
	if f.Column != c.Of || f.Op != store.In || len(f.Values) != 1 {
		return "", false
	}
	of, ok = f.Values[0].(string)
	return of, ok && slices.Contains(c.Values, of)
}

// total counts a list.
func (c *Counted) total(tenant, of string) *builder {
	b := &builder{args: []any{tenant, of}}
	b.WriteString("SELECT COALESCE(SUM(n), 0) FROM " + c.Name + " WHERE tenant = $1 AND " + c.Of + " = $2")
	return b
}

// ranges reads the ranges of a list, newest first.
func (c *Counted) ranges(tenant, of string) *builder {
	b := &builder{args: []any{tenant, of}}
	b.WriteString("SELECT since, n FROM " + c.Name + " WHERE tenant = $1 AND " + c.Of + " = $2 ORDER BY since DESC")
	return b
}

// skipping is the offset from which finding a page's range first is cheaper.
const skipping = 1000

// nearer rewrites a query with a large offset to begin at the range that its page begins in, or
// to find nothing if the page is behind all of them.
func (t *Tx) nearer(table *store.Table, tenant string, q store.Query) (store.Query, error) {
	c := t.conn.dialect.Counted[table]
	of, ok := c.list(q)
	if !ok || q.Offset < skipping || len(q.Order) == 0 || q.Order[0] != (store.Order{Column: c.By, Descending: true}) {
		return q, nil
	}
	rows, err := t.ask(c.ranges(tenant, of))
	if err != nil {
		return q, err
	}
	before, passed, found := int64(math.MaxInt64), 0, false
	err = t.each(rows, func() error {
		var since int64
		var n int
		if err := rows.Scan(&since, &n); err != nil || found {
			return err
		}
		if found = passed+n > q.Offset; !found {
			passed, before = passed+n, since
		}
		return nil
	})
	if err != nil || passed == 0 {
		return q, err
	}
	rest := store.Filter{Column: c.By, Op: store.AtMost, Values: []any{before - 1}}
	if !found { // the first range begins at the least integer: none is below
		rest = store.Filter{Column: c.By, Op: store.In}
	}
	q.Where, q.Offset = append(slices.Clone(q.Where), rest), q.Offset-passed
	return q, nil
}
