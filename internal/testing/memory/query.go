package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/storage/store"
)

func (t *tx) matching(table *store.Table, tenant string, filters []store.Filter) ([]store.Row, error) {
	if t.over {
		return nil, store.ErrOver
	}
	var rows []store.Row
	for _, row := range t.state[place{table.Name, tenant}] {
		if matches(table, row, filters) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func matches(table *store.Table, row store.Row, filters []store.Filter) bool {
	for _, f := range filters {
		v := value(table, row, f.Column)
		holds := func(with any) bool {
			switch order := compareValues(v, with); f.Op {
			case store.AtLeast:
				return order >= 0
			case store.AtMost:
				return order <= 0
			default:
				return order == 0
			}
		}
		sparse := slices.Contains(table.Columns, store.Column{Name: f.Column, Sparse: true})
		if sparse && v == any("") || !slices.ContainsFunc(f.Values, holds) {
			return false
		}
	}
	return true
}

// value returns a column of a row, "id" included.
func value(table *store.Table, row store.Row, column string) any {
	i := slices.IndexFunc(table.Columns, func(c store.Column) bool { return c.Name == column })
	if i < 0 {
		return row.ID
	}
	return row.Keys[i]
}

func compare(table *store.Table, a, b store.Row, orders []store.Order) int {
	descending := false
	for _, o := range orders {
		descending = o.Descending
		if c := compareValues(value(table, a, o.Column), value(table, b, o.Column)); c != 0 {
			return directed(c, descending)
		}
	}
	return directed(strings.Compare(a.ID, b.ID), descending)
}

func directed(c int, descending bool) int {
	if descending {
		return -c
	}
	return c
}

func compareValues(a, b any) int {
	if n, ok := a.(int64); ok {
		return cmp.Compare(n, b.(int64))
	}
	return strings.Compare(a.(string), b.(string))
}
