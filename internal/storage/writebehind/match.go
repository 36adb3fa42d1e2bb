package writebehind

import (
	"slices"

	"github.com/countersign/countersign/internal/storage/store"
)

// idRange are ids from first to last; open: without end.
type idRange struct {
	first, last string
	open        bool
}

// rangeOf is a range that has every id that the filters let through.
func rangeOf(table *store.Table, where []store.Filter) idRange {
	r := idRange{open: true}
	for _, f := range where {
		inColumn := f.Column == table.Within && f.Op == store.In
		if len(f.Values) != 1 || f.Column != "id" && !inColumn {
			continue
		}
		first, isText := f.Values[0].(string)
		if !isText {
			continue
		}
		last := first
		if inColumn {
			first, last = first+"/", last+"0" // '0' follows '/'
		}
		if f.Op != store.AtMost {
			r.first = max(r.first, first)
		}
		if f.Op != store.AtLeast && (r.open || last < r.last) {
			r.last, r.open = last, false
		}
	}
	return r
}

// has reports whether an id is in the range; it has none after the first that isn't.
func (r idRange) has(id string) bool { return id >= r.first && (r.open || id <= r.last) }

// valueOf is the value of a text column of a row, "id" included.
func valueOf(table *store.Table, id string, r row, column string) string {
	if i := slices.IndexFunc(table.Columns, func(c store.Column) bool { return c.Name == column }); i >= 0 {
		return r.keys[i].(string)
	}
	return id
}

// count is how many rows of a sorted list are before something.
func count(sorted []store.Row, before func(store.Row) bool) int {
	n := slices.IndexFunc(sorted, func(r store.Row) bool { return !before(r) })
	if n < 0 {
		return len(sorted)
	}
	return n
}
