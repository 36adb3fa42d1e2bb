package store

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// The rules of a Query for rows that an engine has in memory.

// Matches reports whether a row with this id and these column values passes all filters.
func (t *Table) Matches(id string, keys []any, where []Filter) bool {
	for _, f := range where {
		v := t.value(id, keys, f.Column)
		if v == any("") && slices.Contains(t.Columns, Column{Name: f.Column, Sparse: true}) {
			return false
		}
		if !slices.ContainsFunc(f.Values, func(of any) bool { return f.Op.holds(compareValues(v, of)) }) {
			return false
		}
	}
	return true
}

// CountKey is a text that two Counts of the table share only if they count the same rows: what
// a cache of counts goes by.
func (t *Table) CountKey(tenant string, where []Filter) string {
	b := make([]byte, 0, 64)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	text(t.Name)
	text(tenant)
	for _, f := range where {
		text(f.Column)
		b = append(b, byte(f.Op))
		b = binary.AppendUvarint(b, uint64(len(f.Values)))
		for _, v := range f.Values {
			if n, ok := v.(int64); ok {
				b = binary.AppendVarint(append(b, 'i'), n)
				continue
			}
			b = append(b, 't')
			text(v.(string))
		}
	}
	return string(b)
}

// Compare is the order of a list: by its orders, then by id in the direction of the last.
func (t *Table) Compare(a, b Row, orders []Order) int {
	var last Order
	for _, o := range orders {
		last = o
		if c := compareValues(t.value(a.ID, a.Keys, o.Column), t.value(b.ID, b.Keys, o.Column)); c != 0 {
			return o.directed(c)
		}
	}
	return last.directed(strings.Compare(a.ID, b.ID))
}

// value is the value of a column of a row, "id" included.
func (t *Table) value(id string, keys []any, column string) any {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == column }); i >= 0 {
		return keys[i]
	}
	return id
}

// holds says whether a comparison satisfies the operator.
func (o Op) holds(c int) bool {
	switch o {
	case AtLeast:
		return c >= 0
	case AtMost:
		return c <= 0
	default:
		return c == 0
	}
}

func (o Order) directed(c int) int {
	if o.Descending {
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
