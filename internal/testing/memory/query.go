package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

// column is where a row has the value of a column: its place in Keys, or id.
type column int

// id is the column "id".
const id column = -1

func columnOf(table *store.Table, name string) column {
	return column(slices.IndexFunc(table.Columns, func(c store.Column) bool { return c.Name == name }))
}

// of is the value of a row.
func (c column) of(row store.Row) any {
	if c == id {
		return row.ID
	}
	return row.Keys[c]
}

// compareTo compares a row's value with a value of the column's type.
func (c column) compareTo(row store.Row, with any) int {
	if c == id {
		return strings.Compare(row.ID, with.(string))
	}
	return compareValues(row.Keys[c], with)
}

// compare compares the values of two rows.
func (c column) compare(a, b store.Row) int {
	if c == id {
		return strings.Compare(a.ID, b.ID)
	}
	return compareValues(a.Keys[c], b.Keys[c])
}

func compareValues(a, b any) int {
	if n, ok := a.(int64); ok {
		return cmp.Compare(n, b.(int64))
	}
	return strings.Compare(a.(string), b.(string))
}

// matching returns the rows that pass every filter, in no order.
func (t *tx) matching(table *store.Table, tenant string, filters []store.Filter) ([]store.Row, error) {
	if t.over {
		return nil, store.ErrOver
	}
	passes := passesOf(table, filters)
	var rows []store.Row
	for _, row := range t.state[place{table.Name, tenant}] {
		if !slices.ContainsFunc(passes, func(pass func(store.Row) bool) bool { return !pass(row) }) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// passesOf are the filters as functions, for which the columns are looked up once for all rows.
func passesOf(table *store.Table, filters []store.Filter) (passes []func(store.Row) bool) {
	for _, f := range filters {
		c := columnOf(table, f.Column)
		if c != id && table.Columns[c].Sparse {
			passes = append(passes, func(row store.Row) bool { return row.Keys[c] != any("") })
		}
		passes = append(passes, func(row store.Row) bool {
			return slices.ContainsFunc(f.Values, func(with any) bool { return holds(f.Op, c.compareTo(row, with)) })
		})
	}
	return passes
}

func holds(op store.Op, order int) bool {
	switch op {
	case store.AtLeast:
		return order >= 0
	case store.AtMost:
		return order <= 0
	default:
		return order == 0
	}
}

// sort orders rows by the orders, then by id in the direction of the last.
func sort(table *store.Table, rows []store.Row, orders []store.Order) {
	columns := make([]column, len(orders))
	for i, o := range orders {
		columns[i] = columnOf(table, o.Column)
	}
	slices.SortFunc(rows, func(a, b store.Row) int {
		descending := false
		for i, c := range columns {
			descending = orders[i].Descending
			if order := c.compare(a, b); order != 0 {
				return directed(order, descending)
			}
		}
		return directed(strings.Compare(a.ID, b.ID), descending)
	})
}

func directed(order int, descending bool) int {
	if descending {
		return -order
	}
	return order
}
