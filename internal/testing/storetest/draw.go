package storetest

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/storage/store"
)

// There are few values, so that drawn operations often concern the same row.
var (
	someIDs      = rapid.SampledFrom([]string{"", "a", "B", "b", "ba", "é", "%", "'", "😀"})
	someTexts    = rapid.SampledFrom([]string{"", "A", "B", "a", "ab", "b ", "é", "\"", "$1", "?1"})
	someIntegers = rapid.SampledFrom([]int64{-1 << 63, -1, 0, 1, 2, 10, 1<<63 - 1})
	someDocs     = rapid.SampledFrom([]string{`{}`, `{"a":1}`, `"\u0000"`, `[1.0,1e400]`, `"é😀"`})
)

func drawOperation(t *rapid.T, tenant string) operation {
	table := rapid.SampledFrom(randomTables).Draw(t, "table")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2, 3:
		return drawPut(t, table, tenant)
	case 4:
		return deletion(table, tenant, someIDs.Draw(t, "id"))
	case 5:
		return reading(table, tenant, someIDs.Draw(t, "id"))
	case 6:
		return counting(table, tenant, drawQuery(t, table))
	case 7:
		return distinction(table, tenant, drawColumn(t, table).Name)
	default:
		return listing(table, tenant, drawQuery(t, table))
	}
}

// drawPut draws a Put that has the right version more often than not.
func drawPut(t *rapid.T, table *store.Table, tenant string) operation {
	row := store.Row{ID: someIDs.Draw(t, "id"), Doc: []byte(someDocs.Draw(t, "doc"))}
	for _, c := range table.Columns {
		row.Keys = append(row.Keys, drawValue(t, c))
	}
	off := rapid.SampledFrom([]int64{0, 0, 0, 1, -1}).Draw(t, "version off by")
	name := fmt.Sprintf("put %s %s %q %v off by %d", table.Name, tenant, row.ID, row.Keys, off)
	return operation{name, func(tx store.Tx) (any, error) {
		stored, _ := tx.Get(table, tenant, row.ID) // the zero row if there is none
		return stored.Version, tx.Put(table, tenant, row, stored.Version+off)
	}}
}

func drawQuery(t *rapid.T, table *store.Table) store.Query {
	q := store.Query{
		Limit:  rapid.IntRange(0, 5).Draw(t, "limit"),
		Offset: rapid.IntRange(0, 3).Draw(t, "offset"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "filters") {
		q.Where = append(q.Where, drawFilter(t, drawColumn(t, table)))
	}
	for range rapid.IntRange(0, 2).Draw(t, "orders") {
		q.Order = append(q.Order, store.Order{
			Column: drawColumn(t, table).Name, Descending: rapid.Bool().Draw(t, "descending"),
		})
	}
	return q
}

func drawFilter(t *rapid.T, c store.Column) store.Filter {
	f := store.Filter{Column: c.Name, Op: rapid.SampledFrom([]store.Op{store.In, store.AtLeast, store.AtMost}).Draw(t, "op")}
	values := 1
	if f.Op == store.In {
		values = rapid.IntRange(0, 3).Draw(t, "values")
	}
	for range values {
		f.Values = append(f.Values, drawValue(t, c))
	}
	return f
}

func drawColumn(t *rapid.T, table *store.Table) store.Column {
	return rapid.SampledFrom(append([]store.Column{{Name: "id"}}, table.Columns...)).Draw(t, "column")
}

func drawValue(t *rapid.T, c store.Column) any {
	switch {
	case c.Integer:
		return someIntegers.Draw(t, c.Name)
	case c.Name == "id":
		return someIDs.Draw(t, c.Name)
	default:
		return someTexts.Draw(t, c.Name)
	}
}

func reading(table *store.Table, tenant, id string) operation {
	return operation{fmt.Sprintf("get %s %s %q", table.Name, tenant, id), func(tx store.Tx) (any, error) {
		return tx.Get(table, tenant, id)
	}}
}

func deletion(table *store.Table, tenant, id string) operation {
	return operation{fmt.Sprintf("delete %s %s %q", table.Name, tenant, id), func(tx store.Tx) (any, error) {
		return nil, tx.Delete(table, tenant, id)
	}}
}

func listing(table *store.Table, tenant string, q store.Query) operation {
	return operation{fmt.Sprintf("list %s %s %+v", table.Name, tenant, q), func(tx store.Tx) (any, error) {
		rows, err := tx.List(table, tenant, q)
		return append([]store.Row{}, rows...), err
	}}
}

func counting(table *store.Table, tenant string, q store.Query) operation {
	return operation{fmt.Sprintf("count %s %s %+v", table.Name, tenant, q), func(tx store.Tx) (any, error) {
		return tx.Count(table, tenant, q)
	}}
}

func distinction(table *store.Table, tenant, column string) operation {
	return operation{fmt.Sprintf("distinct %s %s %s", table.Name, tenant, column), func(tx store.Tx) (any, error) {
		values, err := tx.Distinct(table, tenant, column)
		return append([]string{}, values...), err
	}}
}
