package store

import (
	"cmp"
	"slices"
	"strings"
)

// Matches says whether a row of the table is one that a query with these filters finds.
func (t *Table) Matches(where []Filter, row Row) bool {
	return !slices.ContainsFunc(where, func(f Filter) bool { return !f.holds(t.value(row, f.Column)) })
}

func (t *Table) value(row Row, column string) any {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == column }); i >= 0 {
		return row.Keys[i]
	}
	return row.ID
}

func (f Filter) holds(value any) bool {
	return slices.ContainsFunc(f.Values, func(of any) bool {
		switch c := compare(value, of); f.Op {
		case AtLeast:
			return c >= 0
		case AtMost:
			return c <= 0
		default:
			return c == 0
		}
	})
}

// compare compares two values of a column.
func compare(a, b any) int {
	if n, ok := a.(int64); ok {
		return cmp.Compare(n, b.(int64))
	}
	return strings.Compare(a.(string), b.(string))
}
