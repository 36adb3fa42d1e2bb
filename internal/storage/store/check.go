package store

import (
	"fmt"
	"strings"
)

// The checks below find mistakes of the program, not of its users: a value of a
// wrong type, a column that the table doesn't have. Every engine makes them
// first, so that all of them refuse the same calls, and so that no name reaches
// a statement that isn't in a Table.

// CheckRow says whether row.Keys fits the table's columns.
func (t *Table) CheckRow(row Row) error {
	if len(row.Keys) != len(t.Columns) {
		return fmt.Errorf("store: table %s has %d columns, row %q gives %d keys", t.Name, len(t.Columns), row.ID, len(row.Keys))
	}
	for i, c := range t.Columns {
		if err := t.checkValue(c, row.Keys[i]); err != nil {
			return err
		}
		if c.Name == t.Within && !strings.HasPrefix(row.ID, row.Keys[i].(string)+"/") {
			return fmt.Errorf("store: table %s: the id of row %q does not begin with its %s %q and a slash", t.Name, row.ID, c.Name, row.Keys[i])
		}
	}
	return nil
}

// CheckLoad says whether row can be written with the version that it has.
func (t *Table) CheckLoad(row Row) error {
	if row.Version < 1 {
		return fmt.Errorf("store: table %s, row %q: the version %d is less than 1", t.Name, row.ID, row.Version)
	}
	return t.CheckRow(row)
}

// CheckQuery says whether q names columns of the table and values of their types.
func (t *Table) CheckQuery(q Query) error {
	if q.Limit < 0 || q.Offset < 0 {
		return fmt.Errorf("store: table %s: limit %d and offset %d must not be negative", t.Name, q.Limit, q.Offset)
	}
	for _, f := range q.Where {
		if err := t.checkFilter(f); err != nil {
			return err
		}
	}
	for _, o := range q.Order {
		if _, err := t.column(o.Column); err != nil {
			return err
		}
	}
	return nil
}

// CheckDistinct says whether Distinct may be asked of the column.
func (t *Table) CheckDistinct(column string) error {
	c, err := t.column(column)
	if err == nil && c.Integer {
		err = fmt.Errorf("store: column %s.%s is not a text column", t.Name, column)
	}
	return err
}

func (t *Table) checkFilter(f Filter) error {
	c, err := t.column(f.Column)
	if err != nil {
		return err
	}
	switch {
	case f.Op != In && f.Op != AtLeast && f.Op != AtMost:
		return fmt.Errorf("store: filter on %s.%s has the unknown operator %d", t.Name, f.Column, f.Op)
	case f.Op != In && len(f.Values) != 1:
		return fmt.Errorf("store: filter on %s.%s compares with one value, not %d", t.Name, f.Column, len(f.Values))
	}
	for _, v := range f.Values {
		if err := t.checkValue(c, v); err != nil {
			return err
		}
	}
	return nil
}

// column finds a column by name; "id" counts as one.
func (t *Table) column(name string) (Column, error) {
	if name == "id" {
		return Column{Name: "id"}, nil
	}
	for _, c := range t.Columns {
		if c.Name == name {
			return c, nil
		}
	}
	return Column{}, fmt.Errorf("store: table %s has no column %q", t.Name, name)
}

func (t *Table) checkValue(c Column, v any) error {
	want := "string"
	_, ok := v.(string)
	if c.Integer {
		want = "int64"
		_, ok = v.(int64)
	}
	if !ok {
		return fmt.Errorf("store: column %s.%s takes a %s, not a %T", t.Name, c.Name, want, v)
	}
	return nil
}
