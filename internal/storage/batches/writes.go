package batches

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// maxWrite bounds the bytes of a Write's documents, but for a single one.
const maxWrite = 8 << 20

// writes groups rows, in the order in which the engine must write them.
func writes(places []place, entries []entry) (all []sqldoc.Write) {
	type group struct {
		table *store.Table
		kind  sqldoc.Kind
	}
	rows, tables := map[group][]int{}, []*store.Table{}
	for i, p := range places {
		if !slices.Contains(tables, p.table) {
			tables = append(tables, p.table)
		}
		for _, kind := range entries[i].kinds() {
			g := group{p.table, kind}
			rows[g] = append(rows[g], i)
		}
	}
	for _, table := range tables {
		for _, kind := range []sqldoc.Kind{sqldoc.Delete, sqldoc.Insert, sqldoc.Update} {
			for _, part := range parts(entries, rows[group{table, kind}]) {
				all = append(all, newWrite(table, kind, places, entries, part))
			}
		}
	}
	return all
}

// kinds are the changes that bring an entry's row from stored to version.
func (e *entry) kinds() []sqldoc.Kind {
	switch {
	case e.version == 0:
		return []sqldoc.Kind{sqldoc.Delete}
	case e.stored == sqldoc.Unread:
		return []sqldoc.Kind{sqldoc.Delete, sqldoc.Insert}
	case e.stored == 0:
		return []sqldoc.Kind{sqldoc.Insert}
	}
	return []sqldoc.Kind{sqldoc.Update}
}

// parts cuts a group of rows into parts of at most maxWrite.
func parts(entries []entry, rows []int) (all [][]int) {
	from, size := 0, 0
	for i, row := range rows {
		if size += len(entries[row].doc); size > maxWrite && i > from {
			all, from, size = append(all, rows[from:i]), i, len(entries[row].doc)
		}
	}
	if from < len(rows) {
		all = append(all, rows[from:])
	}
	return all
}

func newWrite(table *store.Table, kind sqldoc.Kind, places []place, entries []entry, rows []int) sqldoc.Write {
	w := sqldoc.Write{Table: table, Kind: kind, Rows: len(rows)}
	text := func(of func(int) string) { w.Arrays = append(w.Arrays, array(rows, of)) }
	integer := func(of func(int) int64) { w.Arrays = append(w.Arrays, array(rows, of)) }
	text(func(i int) string { return places[i].tenant })
	text(func(i int) string { return places[i].id })
	if kind == sqldoc.Delete {
		return w
	}
	integer(func(i int) int64 { return entries[i].version })
	text(func(i int) string { return entries[i].doc })
	for n, column := range table.Columns {
		if column.Integer {
			integer(func(i int) int64 { return entries[i].keys[n].(int64) })
		} else {
			text(func(i int) string { return entries[i].keys[n].(string) })
		}
	}
	if kind == sqldoc.Update {
		integer(func(i int) int64 { return entries[i].stored })
	}
	return w
}

func array[T any](rows []int, of func(int) T) []T {
	values := make([]T, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

// Finish is Flush in a message of the engine, such as one that also commits. send is called
// at most once, also if there is nothing to write; its errors are those of Dialect.Together.
func (b *Batch) Finish(send func([]sqldoc.Write) error) error {
	if b.unproven {
		return ErrNeedsSavepoint
	}
	due := b.due(func(*store.Table) bool { return true })
	t := b.conn.Begin(false)
	if err := b.writeTogether(t, due, send); err != nil {
		return b.cause(t.Err(), err)
	}
	return nil
}

func (b *Batch) writeTogether(t *sqldoc.Tx, due []place, send func([]sqldoc.Write) error) error {
	entries := make([]entry, len(due))
	for i, p := range due {
		entries[i] = b.known[p]
	}
	if err := t.Send(writes(due, entries), send); err != nil {
		return fmt.Errorf("write %d rows: %w", len(due), err)
	}
	for i, p := range due {
		b.known[p] = entries[i].written()
	}
	return nil
}
