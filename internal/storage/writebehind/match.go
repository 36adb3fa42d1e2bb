package writebehind

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// The rules of store.Query for rows in memory.

// idRange are ids from first to last; open: without end.
type idRange struct {
	first, last string
	open        bool
}

// rangeOf is a range that has every id that the filters let through.
func rangeOf(where []store.Filter) idRange {
	r := idRange{open: true}
	for _, f := range where {
		if f.Column != "id" || len(f.Values) != 1 {
			continue
		}
		id, isText := f.Values[0].(string)
		if !isText {
			continue
		}
		if f.Op != store.AtMost {
			r.first = max(r.first, id)
		}
		if f.Op != store.AtLeast && (r.open || id < r.last) {
			r.last, r.open = id, false
		}
	}
	return r
}

// has reports whether an id is in the range; it has none after the first that isn't.
func (r idRange) has(id string) bool { return id >= r.first && (r.open || id <= r.last) }

// valueOf is the value of a column of a row.
func valueOf(table *store.Table, id string, r row, column string) any {
	if i := slices.IndexFunc(table.Columns, func(c store.Column) bool { return c.Name == column }); i >= 0 {
		return r.keys[i]
	}
	return id
}

func matches(table *store.Table, id string, r row, where []store.Filter) bool {
	for _, f := range where {
		v := valueOf(table, id, r, f.Column)
		if !slices.ContainsFunc(f.Values, func(of any) bool { return holds(f.Op, compare(v, of)) }) {
			return false
		}
	}
	return true
}

// holds says whether a comparison satisfies an operator.
func holds(op store.Op, c int) bool {
	switch op {
	case store.AtLeast:
		return c >= 0
	case store.AtMost:
		return c <= 0
	default:
		return c == 0
	}
}

// compare compares two values of a column.
func compare(a, b any) int {
	if n, ok := a.(int64); ok {
		return cmp.Compare(n, b.(int64))
	}
	return strings.Compare(a.(string), b.(string))
}

// compare is the order of the list: by its orders, then by id in the direction of the last.
func (m *merged) compare(a, b store.Row) int {
	var last store.Order
	for _, o := range m.query.Order {
		last = o
		c := compare(valueOf(m.table, a.ID, row{keys: a.Keys}, o.Column), valueOf(m.table, b.ID, row{keys: b.Keys}, o.Column))
		if c != 0 {
			return directed(c, o)
		}
	}
	return directed(strings.Compare(a.ID, b.ID), last)
}

func directed(c int, o store.Order) int {
	if o.Descending {
		return -c
	}
	return c
}

// count is how many rows of a sorted list are before something.
func count(sorted []store.Row, before func(store.Row) bool) int {
	n := slices.IndexFunc(sorted, func(r store.Row) bool { return !before(r) })
	if n < 0 {
		return len(sorted)
	}
	return n
}

// counting is a text that is the same only for what counts the same rows.
func counting(table *store.Table, tenant string, where []store.Filter) string {
	b := appendText(appendText(nil, table.Name), tenant)
	for _, f := range where {
		b = append(appendText(b, f.Column), byte(f.Op))
		b = binary.AppendUvarint(b, uint64(len(f.Values)))
		for _, v := range f.Values {
			if n, ok := v.(int64); ok {
				b = binary.AppendVarint(b, n)
			} else {
				b = appendText(b, v.(string))
			}
		}
	}
	return string(b)
}
